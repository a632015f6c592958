"""The ten sections of the story: sentences, question and answer, speaker notes, symbols, formula.

Numbers are placeholders, filled with the values of `numbers`; no sentence contains a typed number.
The first sentence of a section is its *lead*: it stands alone on the screen of presenter mode.
"""

from fsdash.dashboard.story.text import Section

SECTIONS = (
    Section(
        "shop",
        "A shop with fast stock and a slow season",
        (
            "A shop sells one product: its **stock** $y$ changes every week, and the **season** "
            "$x$, the demand of last week, changes rarely.",
            "This week's demand is seen after the order: in the middle season it is one step "
            "higher with probability {move}, one step lower with the same probability, and "
            "otherwise unchanged. An order $a$ costs {K} plus {c} per unit and arrives after the "
            "sales; a unit sells for {p}, and storing it for a week costs {h}. Demand without "
            "stock is lost, and so is what does not fit into the shop.",
            "There are {n_slow} seasons (a demand of {demands} units per week), {n_fast} stock "
            "levels (up to {capacity} units) and {n_actions} order sizes ({sizes}): {n_states} "
            "states, so we can draw all of them. The orders drawn are those of the optimal policy.",
        ),
        "In the year shown, how often does the stock change, and how often does the season?",
        "From one week to the next the stock changes {stock_moves} times in {weeks} weeks, and the "
        "season {season_moves} times. A state with such a fast part and such a slow part is what "
        "*fast-slow* means.",
        "One simulated year under the optimal policy: stock and demand above, orders below. Of "
        "{weeks} weeks, the stock changes after {stock_moves} and the demand after {season_moves}.",
        ("Ustar", "s", "x", "y", "nu", "E", "gamma", "t", "r", "st"),
        4,
        (
            "The shop decides every week, but the world behind the demand changes over months.",
            "Nothing here is special to shops: prices and customers, moves and the place of the "
            "reward have the same two speeds.",
            "The formula is the usual goal: the largest expected discounted reward. The optimal "
            "policy earns {optimum} on average over all states.",
        ),
        ("Change the path two or three times. Ask which line is fast and which one is slow.",),
        (r"U^*(s) = \max_{\nu}\ \mathbb E\Bigl[\sum_{t=0}^{\infty} \gamma^t\, r(s_t, \nu)\Bigr]",),
        live="An order costs {K} plus {c} per unit; a unit sells for {p}; storing it for a week "
        "costs {h}.",
    ),
    Section(
        "sweeps",
        "Why looking far ahead is expensive",
        (
            "An order pays off over many weeks, so the discount factor $\\gamma$ must be close to "
            "one, and **value iteration then converges slowly**.",
            "With $\\gamma$ = {gamma}, a reward {half} weeks away still counts about half, but "
            "each sweep over all states looks only one week further ahead.",
            "After {k_sweeps} the values are off by {error}; it takes {needed} sweeps to bring the "
            "error down to {precision}.",
        ),
        "Move $\\gamma$ halfway to one. How many times as many sweeps does that take?",
        "{needed_closer} sweeps with $\\gamma$ = {closer}, {ratio} times as many. The error falls "
        "by the factor $\\gamma$ per sweep, so the number of sweeps grows like $1/(1-\\gamma)$: "
        "near one, half the distance takes twice the sweeps. The greedy *policy* is optimal after "
        "{optimal_after} sweeps already. Bounds from the span of $U^k - U^{{k-1}}$, its largest "
        "minus its smallest entry, tell when it is good enough to stop: with $\\gamma$ near one, "
        "long before the values are accurate. The section on regret measures policies, not "
        "values.",
        "The error of value iteration after each sweep on a logarithmic scale, with γ = {gamma}: "
        "{error} after {k} sweeps, below {precision} after {needed} sweeps.",
        ("Uk", "H", "norm", "Ustar", "gamma", "sweeps"),
        4,
        (
            "Recall value iteration. One sweep is one pass over all states and actions.",
            "Read the formula aloud: after each sweep the largest error is at most the discount "
            "factor times the error before.",
            "In this shop a sweep costs almost nothing. In a model with millions of states, "
            "hundreds of sweeps are expensive.",
        ),
        (
            "Move the discount factor from left to right and watch the slope of the curve.",
            "Then ask the question before you open the answer.",
        ),
        (
            r"U^{k} = H\,U^{k-1}, \quad \lVert U^k - U^*\rVert_\infty \le \gamma^k\, "
            r"\lVert U^0 - U^*\rVert_\infty",
        ),
        live="$\\gamma$ = {gamma}: off by {error} after {k_sweeps}, by {precision} after {needed}.",
    ),
    Section(
        "lower",
        "Freezing: the lower level",
        (
            "While planning, **pretend that the season stays where it is** for a *block* of $T$ "
            "weeks: each season is then a small problem of its own, solved backwards from the end "
            "of the block.",
            "The plan assumes that nothing follows the block, so the last value is zero and each "
            "step back adds one week.",
            "With {n_weeks} to go ($n = T - t$), {ordering} of the {n_states} states order; the "
            "number in a cell is the order.",
        ),
        "How many weeks must be left in the block for the plan to order at all, and why not fewer?",
        "At least {first} weeks. An order costs {K} at once and arrives after this week's sales. "
        "With fewer weeks left in the block the sales do not pay for it, and the plan sees "
        "nothing after the block.",
        "With {n_weeks} to go, {ordering} of {n_states} states order.",
        ("J", "x", "y", "a", "r", "gamma", "E", "ynext", "t", "T"),
        5,
        (
            "The season is frozen only inside the plan. The shop itself still sees seasons change.",
            "Freezing saves work twice: the expectation has fewer next states, and the {n_slow} "
            "seasons are separate problems.",
            "Here the frozen plan knows the next stock for certain. Only the reward of a week is "
            "still an expected one, over the demand of that week.",
        ),
        (
            "Start with one week to go: no cell orders. Step back week by week until the first "
            "orders appear.",
        ),
        (
            r"J_t(x, y) = \max_a\ r(x, y, a) + \gamma\, \mathbb E\bigl[J_{t+1}(x, y')\bigr], "
            r"\quad J_T = 0",
        ),
        live="{n_weeks} to go: {ordering} of {n_states} states order. An order costs {K}, a unit "
        "sells for {p}.",
    ),
    Section(
        "upper",
        "The upper level: T weeks per step",
        (
            "The upper level uses the true dynamics, but **one of its steps is a whole block of "
            "$T$ weeks**, so it needs far fewer iterations.",
            "With $T$ = {T} it discounts by $\\gamma^T$ = {discount} per step. An iteration costs "
            "{cost_sweeps} (one over all orders; each further week of the block has one order, "
            "that of the lower level), and {needed} of them bring the values within {precision} "
            "of their limit: {work} in all, where value iteration needs {vi_needed}.",
            "After {k_iterations} the values are off by {error} from that limit. The number in a "
            "cell is the order of the upper policy $\\mu$.",
        ),
        "Where does the upper level use the frozen season, and where the true one?",
        "The reward of the block comes from the frozen plan: $J_1$ is computed once and then only "
        "looked up. The state $s_T$ at the end of the block is reached with the orders of the "
        "lower level, but under the true dynamics, with the season moving.",
        "Values of the upper level with T = {T} after {k} iterations, and the order of its policy "
        "in every state.",
        ("V", "st", "sT", "a", "r", "gamma", "E", "J", "T", "k", "mu"),
        5,
        (
            "One step of this iteration jumps over a block. The frozen plan says what the block "
            "earns, the true dynamics say where it ends.",
            "Read the formula from left to right: the reward of this week, what the frozen plan "
            "says about the other weeks of the block, and the value of the state after the block.",
            "An iteration costs a little more than a sweep, because the block's last state has to "
            "be followed through the block.",
        ),
        (
            "Keep T and increase the iterations: the values grow, the orders settle early.",
            "Then increase T: fewer iterations are needed.",
        ),
        (
            r"V^{k}(s_0) = \max_a\ r(s_0, a) + \gamma\, \mathbb E\bigl[J_1(s_1)\bigr] "
            r"+ \gamma^T\, \mathbb E\bigl[V^{k-1}(s_T)\bigr]",
        ),
        live="$T$ = {T}: {needed} iterations of {cost_sweeps}, {work} in all; value iteration: "
        "{vi_needed}.",
    ),
    Section(
        "path",
        "The policy on a path, block by block",
        (
            "Together, the two levels give the policy of *frozen-state value iteration* (FSVI), "
            "which repeats every $T$ weeks: **$\\mu$ acts in the first week of a block, the lower "
            "level in the others.**",
            "On this path {at_start} of {orders} orders fall on the first week of a block; in the "
            "long run it is {share} of all orders.",
            "The dashed line is the stock in the plan of each block; over these {weeks} weeks the "
            "plans expected to earn {planned}, and the shop earned {earned}. One path says little "
            "about a policy; the next sections average over all of them.",
        ),
        "With $T$ = {T}, why does the shop order when it does?",
        "Only $\\mu$ looks beyond the end of the block. In the {last} of a block the lower level "
        "never orders: it sees too few weeks of sales to pay the fixed cost of {K}, so it lets the "
        "stock run out. {who}",
        "One simulated path of {weeks} weeks in {blocks} blocks: demand above; stock, the planned "
        "stock and orders below. {at_start} of {orders} orders fall on the first week of a block.",
        ("mu", "pi", "T", "x", "y"),
        6,
        (
            "Point out to the class: the policy is good inside a block and short-sighted at its "
            "end.",
            "The plan is wrong where the dashed and the solid line separate: there the season "
            "moved.",
        ),
        (
            "Show that with short blocks all orders fall on block starts. Then increase T: orders "
            "appear inside the blocks, but not at their end.",
            "Choose a path in which the demand changes and compare the dashed and solid lines.",
        ),
        live="{at_start} of {orders} orders are in the first week of a block. Planned: {planned}, "
        "earned: {earned}.",
        class_minutes=3,
        pair_minutes=13,
    ),
    Section(
        "errors",
        "The price: two errors",
        (
            "The plan is wrong about the reward of a block for two reasons: **the season moves** "
            "(freeze error), and **the plan ignores what comes after the block** (end-of-horizon "
            "error).",
            "With $T$ = {T}, measured over all states and orders, the freeze error is at most "
            "{freeze} and the end-of-horizon error at most {end}.",
            "The paper behind this method bounds them by {freeze_bound} and {end_bound}, from five "
            "constants of the shop: the stock moves by at most $d_Y$ = {d_Y} a week and the season "
            "by $\\alpha$ = {alpha} times as much; one unit more of stock or demand changes the "
            "reward by at most $L_r$ = {L_r}, the next state by $L_f$ = {L_f} and the optimal "
            "value by $L_U$ = {L_U}.",
        ),
        "Which of the two errors is larger in this shop? What happens to each as $T$ grows?",
        "With $T$ = {T} the {larger} error is larger. From $T$ = {shortest} to $T$ = {longest} the "
        "freeze error grows from {freeze_first} to {freeze_last}, because the season has more time "
        "to move, and the end-of-horizon error shrinks from {end_first} to {end_last}, because the "
        "end of the block is further away and discounted more.",
        "The freeze and the end-of-horizon error against T on a logarithmic scale, measured and "
        "as bounded by the paper. With T = {T}: measured {freeze} and {end}, bounded by "
        "{freeze_bound} and {end_bound}.",
        ("er", "alpha", "dY", "Lr", "Lf", "LU", "gamma", "T"),
        4,
        (
            "Both errors are errors of the plan, not yet of the decisions.",
            "Read the blue part as: how far the season can move, times what a unit is worth. Read "
            "the other part as: what the stock at the end of the block is worth, which the plan "
            "ignores.",
            "The solid lines are the truth, the dotted lines the bound. The bound is {ratio} times "
            "the truth here; a later section explains why.",
        ),
        (
            "Move T from left to right: one solid line rises, the other falls. With the shortest "
            "block the freeze error is zero, which a logarithmic axis cannot show.",
        ),
        live="Measured: freeze {freeze}, end of horizon {end}. Bounded by {freeze_bound} and "
        "{end_bound}.",
    ),
    Section(
        "work",
        "The trade-off: regret against work",
        (
            "The **regret** of a policy is what it loses compared with the optimal one: **FSVI "
            "lowers it with little work, then settles at a floor** that more iterations do not "
            "remove.",
            "The thick line (Pareto front) is the smallest regret of FSVI and value iteration "
            "(Base VI) for each budget, on average over all states: with {budget_sweeps} it is "
            "{regret} ({winner}), and Base VI alone has {base}.",
            "FSVI with $T$ = {T} settles at {floor}, of an optimal value of {optimum}. A regret of "
            "zero is drawn at the lower edge.",
        ),
        "For which budgets is FSVI better than value iteration, and when not?",
        "Below {switch} sweeps FSVI has the smaller regret; from there on value iteration is "
        "better, because its regret goes to zero. FSVI is for models in which even a few sweeps "
        "are expensive. From {replan_from} to {replan_to} sweeps, replanning beats both, as you "
        "will see two sections later.",
        "Mean regret against work in sweeps of value iteration, for FSVI with T = {T} and for "
        "value iteration. At a budget of {budget_sweeps} the best is {winner}, with {regret}.",
        ("T", "k", "regret"),
        4,
        (
            "All regrets are measured: each policy is evaluated exactly, under the true dynamics.",
            "The strip at the bottom shows which T wins at each budget. The winner changes several "
            "times. Only FSVI and value iteration compete here.",
        ),
        ("Move the budget from left to right; the line below the controls names the winner.",),
        live="{budget_sweeps}: {winner} has {regret}, Base VI {base}. $T$ = {T} settles at "
        "{floor}.",
        pair_minutes=12,
    ),
    Section(
        "bound",
        "What the bound says, and why it says so little",
        (
            "The paper's theorem bounds the regret by a few constants of the model, but **in this "
            "shop it allows {times} times more than can be lost at all**. One constant, $L_U$, is "
            "measured here on the solved model.",
            "With $T$ = {T} the bound is {bound}, no policy can lose more than {trivial}, and FSVI "
            "loses at most {regret} in any state.",
            "The bound multiplies worst cases: a step of one unit can change the value by {L_U}, "
            "and a factor of {factor} adds up the errors of all blocks. The *certificate* is "
            "another bound, computed from the policy itself.",
        ),
        "Can anything useful be said about the regret without the optimal values?",
        "Yes. After FSVI has run, a few more sweeps show by how much any policy could still be "
        "better than this one: here the certificate proves that FSVI loses at most {certificate}. "
        "On given constants the paper's bound orders the values of $T$; on real models it is "
        "vacuous. Here it is smallest at $T$ = {bound_T}, and FSVI loses least at $T$ = {true_T}.",
        "Four numbers on a logarithmic scale: the true regret {regret}, the certificate "
        "{certificate}, the most that can be lost {trivial}, and the paper's bound {bound}.",
        ("regret", "er", "LU", "d", "gamma", "T"),
        4,
        (
            "The fixed cost of {K} is a jump, and a jump makes every Lipschitz constant large.",
            "Read the formula as: the error of one block, in brackets, times a factor that adds up "
            "all blocks and two policies.",
            "The bound names the quantities that matter. On given constants it orders the values "
            "of T; on real models it is vacuous.",
        ),
        ("Move T from {true_T} to {bound_T}: the bound falls, and the true regret rises.",),
        live="True regret {regret}, certificate {certificate}, most that can be lost {trivial}, "
        "bound {bound}.",
    ),
    Section(
        "rolling",
        "Replanning every week lowers the floor",
        (
            "**Use only the first step of the frozen plan, and plan again next week**: the plan "
            "then never comes close to its own end.",
            "With {n} frozen weeks this *rolling freeze* loses {rolling} on average, for the work "
            "of {work}; FSVI with blocks of {n} weeks settles at {fsvi}, however many iterations "
            "it makes.",
            "It needs no upper level. Its loss goes up and down, because the length of the plan "
            "decides which last order still pays off; from {steady} weeks on it stays between "
            "{steady_low} and {steady_high}. Longer plans do not remove this loss, because they "
            "still assume that the season does not change.",
        ),
        "Is rolling freeze always better than FSVI?",
        "No. With {short} frozen weeks it loses {short_rolling} and FSVI only {short_fsvi}, "
        "because without an upper level nothing looks beyond these weeks. Its smallest loss here "
        "is {best} with {best_n} weeks; that of FSVI is {best_floor} with $T$ = {best_T}. The "
        "paper has no theorem on rolling freeze, but a certificate can be computed for it.",
        "Mean regret on a logarithmic scale against the number of frozen weeks, for FSVI and for "
        "rolling freeze. With {n} weeks: FSVI {fsvi}, rolling freeze {rolling}.",
        ("J", "pi", "T", "n", "regret"),
        4,
        (
            "Recall the path: with short blocks, orders waited for the next block to begin. A plan "
            "that is made anew every week has no blocks.",
            "The last weeks of the plan are still wrong, but they are never carried out. The error "
            "made by freezing stays.",
        ),
        ("Compare both lines with few and with many frozen weeks.",),
        live="{n} frozen weeks: rolling freeze loses {rolling} (work: {work}), FSVI {fsvi}.",
        class_minutes=2,
        pair_minutes=13,
    ),
    Section(
        "failure",
        "When freezing fails",
        (
            "Freezing needs **rewards within reach of the plan** and **a slow state that is "
            "slow**.",
            "{case}",
        ),
        "What would help in each of the two cases?",
        "{advice}",
        "{alt}",
        ("T", "x", "regret"),
        5,
        (
            "Both failures can be measured before you rely on the method: the page Your model "
            "does this for any model.",
        ),
        (
            "Show the maze with a small T, then with one that is longer than the way to the prize.",
            "Show the shop with a season that moves more and more often.",
        ),
        live="{live}",
    ),
)
