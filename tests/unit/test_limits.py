"""Limits that runs share: calls in flight, tokens of any minute, dollars, turns, and reservations that lapse."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from hypothesis import example, given
from hypothesis import strategies as st

from storm_pipeline.run.limits import MINUTE, Endpoints, Limits

CALLS, PER_MINUTE, CAP = 3, 100, 10.0
EXCESS = {"": 0.0, "long": 2.0, "very long": 5.0}  # model → dollars of each reply beyond what its caller expects


class Clock:
    now = 0.0


@dataclass
class Asked:
    """A call as its caller knows it."""

    name: str
    tokens: int
    dollars: float
    owner: str = ""
    model: str = ""
    at: float = -1.0  # when it was reserved
    until: float = math.inf  # when it lapses
    open: bool = True


def ask(shared: Limits, call: Asked) -> str:
    limits = {"calls": CALLS, "per_minute": PER_MINUTE}
    return shared.reserve(call.name, "here", call.tokens, call.dollars, owner=call.owner, model=call.model, **limits)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.integers(0, 150), st.floats(0, 4)),
        st.tuples(st.just("settle"), st.integers(0, 5), st.floats(0, 1)),
        st.tuples(st.just("pass"), st.floats(0, 70), st.just(0.0)),
        st.tuples(st.just("withdraw"), st.integers(0, 5), st.just(0.0)),
        st.tuples(st.just("lose"), st.just(0), st.just(0.0)),
    ),
    max_size=60,
)


@given(STEPS)
@example([("ask", 2, 1.0)] * 4 + [("settle", 0, 1.0)])
def test_no_limit_is_passed_and_every_call_has_its_turn(steps: list[tuple[str, float, float]]) -> None:
    clock = Clock()
    shared = Limits(endpoints=Endpoints(lambda: clock.now), max_cost=CAP)
    waiting: list[Asked] = []
    reserved: list[Asked] = []
    spent, node = 0.0, 0

    def look() -> None:
        """Ask again, as every caller that waits does, the last one first: the order in which they came counts."""
        shared.renew(f"node {node}")
        for call in reversed(waiting.copy()):
            answer = ask(shared, call)
            assert answer != "spent" or shared.is_spent
            if answer != "wait":
                waiting.remove(call)
            if answer == "reserved":
                call.at = clock.now
                reserved.append(call)
        in_flight = [call for call in reserved if call.open and call.until > clock.now]
        assert len(in_flight) <= CALLS
        costs = [call.dollars + EXCESS[call.model] for call in in_flight]
        assert spent + sum(costs) <= CAP + max(EXCESS.values()) + 1e-9  # at most one reply beyond the cap
        first = min((int(call.name) for call in waiting), default=1000)
        assert all(int(call.name) < first for call in reserved)

    def settle(call: Asked, share: float) -> None:
        nonlocal spent
        call.open, call.tokens = False, int(call.tokens * share)
        excess = EXCESS[call.model] if share else None
        spent += (used := call.dollars * share + (excess or 0.0))
        shared.settle(call.name, call.tokens, used, excess)
        shared.settle(call.name, 1000, 1000.0, 1000.0)  # a repeated answer counts once

    for number, (step, amount, share) in enumerate(steps):
        in_flight = [call for call in reserved if call.open and call.until == math.inf]
        if step == "ask":
            model = [*EXCESS][int(amount) % len(EXCESS)]
            waiting.append(Asked(str(number), int(amount), share, f"node {node}" if number % 2 else "", model))
        elif step == "settle" and in_flight:
            settle(in_flight[int(amount) % len(in_flight)], share)
        elif step == "withdraw" and waiting:
            shared.settle(waiting.pop(int(amount) % len(waiting)).name, 7, 0.0)
        elif step == "pass":
            clock.now += amount
        elif step == "lose":  # a node that is gone neither asks, settles nor renews any more
            waiting = [call for call in waiting if not call.owner]
            for call in reserved:
                call.until = min(call.until, clock.now + MINUTE) if call.owner else call.until
            node += 1
        look()
    for _ in steps:
        for call in reserved:
            if call.open and call.until == math.inf:
                settle(call, 0.5)
        clock.now += MINUTE
        look()
    assert not waiting
    assert shared.spent == spent
    for call in reserved:
        used = [it.tokens for it in reserved if call.at <= it.at < call.at + MINUTE and it.tokens]
        assert sum(used) <= PER_MINUTE or len(used) == 1


def test_no_wake_up_is_lost_between_threads() -> None:
    shared, under_way, most = Limits(max_cost=10.0, endpoints=Endpoints()), set[str](), list[int]()

    def work(number: int) -> str:
        name = str(number)
        answer = shared.reserve(name, f"endpoint {number % 2}", 10, 0.5, calls=2, per_minute=10**6, patience=60)
        under_way.add(name)
        most.append(len(under_way))
        under_way.discard(name)
        shared.settle(name, 10, 0.01)
        return answer

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(work, range(400))) == {"reserved"}
    assert max(most) <= 4
    assert round(shared.spent, 6) == 4.0


def test_reservations_of_a_process_that_is_gone_lapse() -> None:
    clock = Clock()
    shared = Limits(endpoints=Endpoints(lambda: clock.now), max_cost=1.0)
    theirs = [Asked(str(number), 1, 0.3, "node 1") for number in range(CALLS)]
    assert [ask(shared, call) for call in theirs] == ["reserved"] * CALLS
    mine = Asked("mine", 1, 0.3, "node 2")
    assert ask(shared, mine) == "wait"
    clock.now += MINUTE - 1
    shared.renew("node 1")
    clock.now += MINUTE - 1
    assert ask(shared, mine) == "wait"
    clock.now += 1
    assert ask(shared, mine) == "reserved"
    assert [ask(shared, call) for call in theirs[1:]] == ["reserved"] * 2  # its node was slow, not gone
    assert ask(shared, Asked("next", 1, 0.0)) == "wait"
    shared.settle("0", 1, 0.25)  # what it had in flight was paid
    shared.settle("0", 1, 0.25)
    assert shared.spent == 0.25
    for name in ("mine", "1", "2", "next"):
        shared.settle(name, 1, 0.0)
    assert [ask(shared, Asked(f"new {n}", 1, 0.2)) for n in range(CALLS)] == ["reserved"] * CALLS
