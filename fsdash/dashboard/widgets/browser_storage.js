// Reads and writes one item of localStorage, and reports its value when it has changed.
const blocked = new Map(); // values of this page where the storage is blocked

function read(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return blocked.get(name) ?? null;
  }
}

function store(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    blocked.set(name, value);
  }
}

export default function ({ data, parentElement, setStateValue }) {
  const { name, write, initial } = data;
  if (write !== null && parentElement.fsWritten !== write) {
    store(name, write);
    parentElement.fsWritten = write;
  }
  if (initial !== null && read(name) === null) store(name, initial);
  const value = read(name) ?? "";
  if (parentElement.fsReported !== value) {
    parentElement.fsReported = value;
    setStateValue("value", value);
  }
}
