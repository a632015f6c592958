"""The command line: `fsdash COMMAND`, or `python -m fsdash COMMAND`.

main           the entry point and the parser
arguments      what several commands share: their parser, argument types, a domain's arguments
theory         bounds, advise, constants
choice         frontier, plan
models         domains, algorithms, solve
inspect_model  inspect-model
runs           run
reproduce      reproduce
dashboard      dashboard
store          backup, restore
compile        compile

A module of commands has one function `add_commands(commands)`, which adds each command's parser and
the function that runs it. Libraries that take long to load are imported in these functions, so that
`fsdash --help` starts quickly.
"""
