"""Distances between the images of two state-action pairs: of points, or of distributions.

The image of a pair (x, y, a) is a point, such as its reward or its next state for a given noise w,
or the distribution of its next state. Points are compared by their Euclidean distance,
distributions by the Wasserstein-1 distance

    W₁(P, Q) = min E‖s − s'‖    over all joint distributions (couplings) of s ~ P and s' ~ Q.

Only the parts in which P and Q differ have to move, because ‖·‖ is a metric. Any coupling bounds W₁
from above. The one used here takes the next states of both in the order of their indices
(`distance_above`, linear in the length of the rows). It is optimal if the states of each row differ
in one coordinate only and are in its order, because the cost is then a convex function of the
difference. In all other cases `distance_bounds` solves the transport problem, if it is small
enough; otherwise ‖E[s] − E[s']‖ is the value below.
"""

from typing import NamedTuple

import numpy as np

from fsdash.core.kernels import inlined, jit

LARGEST_TRANSPORT = 1024
"""Largest number of (s, s') in a transport problem that is solved; it takes a millisecond."""
ROUNDING = 1e-12
"""Relative difference at which two bounds count as equal."""


# Numba's cache of compiled kernels refers to this class by its name: recompile after renaming it.
class Images(NamedTuple):
    """The image of each state-action pair.

    `number_XYA` is the number of the image, of a point in `points_NC` if `start_R` is empty, of a
    distribution otherwise. These are stored like the rows of `fsdash.core.rows.Rows`, with the
    points as next states. `known_RR` remembers distances between distributions, −1 for unknown
    ones; it has no entries if there are too many.
    """

    number_XYA: np.ndarray
    points_NC: np.ndarray
    start_R: np.ndarray = np.zeros(0, np.int64)
    target_N: np.ndarray = np.zeros(0, np.uint32)
    probability_N: np.ndarray = np.zeros(0)
    known_RR: np.ndarray = np.zeros((0, 0))


@inlined
def distance(points_NC, i, j):
    """The Euclidean distance between two points."""
    square = 0.0
    for c in range(points_NC.shape[1]):
        square += (points_NC[i, c] - points_NC[j, c]) ** 2
    return np.sqrt(square)


@jit
def distance_above(images, r, q):
    """The distance between two images, or an upper value if they are distributions."""
    if images.start_R.size == 0:
        return distance(images.points_NC, r, q)
    if images.known_RR.size == 0:
        return _coupling_cost(images, r, q)
    if images.known_RR[r, q] < 0:
        images.known_RR[r, q] = images.known_RR[q, r] = _coupling_cost(images, r, q)
    return images.known_RR[r, q]


@jit
def largest_above(images, number_K, other_K):
    """The largest `distance_above` of the images at the same places of two lists."""
    largest = 0.0
    points, remember = images.start_R.size == 0, images.known_RR.size > 0
    for k in range(len(number_K)):
        r, q, above = number_K[k], other_K[k], -1.0
        if points:
            above = distance(images.points_NC, r, q)
        elif remember:
            above = images.known_RR[r, q]
        if above < 0:  # a call takes several times longer than what is above
            above = distance_above(images, r, q)
        largest = max(largest, above)
    return largest


@jit
def distance_bounds(images, r, q):
    """A lower and an upper value of the distance, which are equal if it is known exactly.

    The third value is the number of operations.
    """
    above = distance_above(images, r, q)
    if images.start_R.size == 0:
        return above, above, 1
    from_I, supply_I = _excess(images, r, q)
    to_J, demand_J = _excess(images, q, r)
    n, m = len(from_I), len(to_J)
    if min(n, m) <= 1 or _ordered_on_lines(images.points_NC, from_I, to_J):
        return above, above, n + m
    below = _mean_distance(images.points_NC, from_I, supply_I, to_J, demand_J)
    if below >= above * (1 - ROUNDING):
        return above, above, n + m
    cost = -1.0
    if n * m <= LARGEST_TRANSPORT:
        cost = transport_cost(images.points_NC, from_I, supply_I, to_J, demand_J)
    if cost < 0:
        return below, above, n + m
    if images.known_RR.size > 0:
        images.known_RR[r, q] = images.known_RR[q, r] = cost
    return cost, cost, (n + m) ** 3


@jit
def _coupling_cost(images, r, q):
    """The mean distance if both distributions take their states in the order of the indices."""
    if r == q:
        return 0.0
    stop_r, stop_q = images.start_R[r + 1], images.start_R[q + 1]
    i, other_i, supply = _next_excess(images, images.start_R[r], stop_r, images.start_R[q], stop_q)
    j, other_j, demand = _next_excess(images, images.start_R[q], stop_q, images.start_R[r], stop_r)
    cost = 0.0
    while i < stop_r and j < stop_q:
        mass = min(supply, demand)
        cost += mass * distance(images.points_NC, images.target_N[i], images.target_N[j])
        supply -= mass
        demand -= mass
        if supply <= 0:
            i, other_i, supply = _next_excess(images, i + 1, stop_r, other_i, stop_q)
        if demand <= 0:
            j, other_j, demand = _next_excess(images, j + 1, stop_q, other_j, stop_r)
    return cost


@jit
def _next_excess(images, i, stop, j, other_stop):
    """The first entry from i on whose probability exceeds that of the same state in another row.

    Returns the entry, the place in the other row, which is searched from j on, and the excess.
    """
    while i < stop:
        state = images.target_N[i]
        while j < other_stop and images.target_N[j] < state:
            j += 1
        excess = images.probability_N[i]
        if j < other_stop and images.target_N[j] == state:
            excess -= images.probability_N[j]
        if excess > 0:
            return i, j, excess
        i += 1
    return i, j, 0.0


@jit
def _excess(images, r, q):
    """The states that are more probable in row r than in row q, and by how much."""
    start, stop = images.start_R[r], images.start_R[r + 1]
    states, masses = np.empty(stop - start, np.int64), np.empty(stop - start)
    n, other_stop = 0, images.start_R[q + 1]
    i, j, mass = _next_excess(images, start, stop, images.start_R[q], other_stop)
    while i < stop:
        states[n], masses[n] = images.target_N[i], mass
        n += 1
        i, j, mass = _next_excess(images, i + 1, stop, j, other_stop)
    return states[:n], masses[:n]


@jit
def _ordered_on_lines(points_NC, from_I, to_J):
    """Whether both sets differ in the same single coordinate and are in its order."""
    varying = -1
    for states in (from_I, to_J):
        for k in range(1, len(states)):
            for c in range(points_NC.shape[1]):
                step = points_NC[states[k], c] - points_NC[states[k - 1], c]
                if step < 0 or (step > 0 and varying not in (-1, c)):
                    return False
                if step > 0:
                    varying = c
    return True


@jit
def _mean_distance(points_NC, from_I, supply_I, to_J, demand_J):
    """‖E[s] − E[s']‖, which no coupling can undercut."""
    square = 0.0
    for c in range(points_NC.shape[1]):
        shift = 0.0
        for i in range(len(from_I)):
            shift += supply_I[i] * points_NC[from_I[i], c]
        for j in range(len(to_J)):
            shift -= demand_J[j] * points_NC[to_J[j], c]
        square += shift**2
    return np.sqrt(square)


@jit
def transport_cost(points_NC, from_I, supply_I, to_J, demand_J):
    """The smallest cost of moving the supplies to the demands; −1 if rounding prevents an answer.

    Successive shortest paths: each path starts where supply is left, ends where demand is open, may
    undo earlier moves, and is the cheapest one. Potentials keep all costs non-negative, so that
    Dijkstra's algorithm finds it. Nodes 0, …, n−1 are the supplies, the others the demands.
    """
    n, m = len(from_I), len(to_J)
    cost_IJ, flow_IJ = np.empty((n, m)), np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            cost_IJ[i, j] = distance(points_NC, from_I[i], to_J[j])
    supply_I, demand_J = supply_I.copy(), demand_J.copy()
    potential = np.zeros(n + m)
    smallest = 1e-15 * supply_I.sum()
    for _ in range(20 * (n + m)):
        length, before, end = _cheapest_path(
            cost_IJ, flow_IJ, supply_I > smallest, demand_J > smallest, potential
        )
        if end < 0:
            return (cost_IJ * flow_IJ).sum()
        for node in range(n + m):
            potential[node] += min(length[node], length[end])
        mass, node = demand_J[end - n], end
        while before[node] >= 0:
            if node < n:  # this move is undone
                mass = min(mass, flow_IJ[node, before[node] - n])
            node = before[node]
        mass = min(mass, supply_I[node])
        supply_I[node] -= mass
        demand_J[end - n] -= mass
        node = end
        while before[node] >= 0:
            if node < n:
                flow_IJ[node, before[node] - n] -= mass
            else:
                flow_IJ[before[node], node - n] += mass
            node = before[node]
    return -1.0


@jit
def _cheapest_path(cost_IJ, flow_IJ, supplies_I, demands_J, potential):
    """Dijkstra's algorithm: lengths, predecessors, and the open demand nearest to a supply.

    The last one is −1 if no supply is left or no demand is open.
    """
    n, m = cost_IJ.shape
    length = np.full(n + m, np.inf)
    before = np.full(n + m, -1)
    done = np.zeros(n + m, np.bool_)
    for i in range(n):
        if supplies_I[i]:
            length[i] = 0.0
    while True:
        node = -1
        for k in range(n + m):
            if not done[k] and length[k] < np.inf and (node < 0 or length[k] < length[node]):
                node = k
        if node < 0 or (node >= n and demands_J[node - n]):
            return length, before, node
        done[node] = True
        for k in range(n, n + m) if node < n else range(n):
            if done[k] or (node >= n and flow_IJ[k, node - n] <= 0):
                continue
            step = cost_IJ[node, k - n] if node < n else -cost_IJ[k, node - n]
            step = max(0.0, step + potential[node] - potential[k])
            if length[node] + step < length[k]:
                length[k], before[k] = length[node] + step, node
