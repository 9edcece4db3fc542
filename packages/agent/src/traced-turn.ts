import { type Clock, type Meter, silentTracer, type Tracer } from '@parley/contracts';
import type { RunTurn } from '@parley/queue';

/** What following turns needs. */
export interface TracedTurnDeps {
  readonly meter: Meter;
  /** Without it nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly clock: Clock;
}

/**
 * Counts each turn that is taken from a lane, whoever it is for, and runs it as a stage of the trace of
 * its first message.
 */
export function withTraces({ meter, tracer = silentTracer, clock }: TracedTurnDeps, run: RunTurn) {
  const traced: RunTurn = (turn, lease, signal) => {
    const [first] = turn.messages;
    const parent = first?.trace;
    meter.count('parley_lane_turns_total', { run: turn.resumed ? 'again' : 'first' });
    if (first !== undefined && !turn.resumed) {
      tracer.past('parley.lane', { parent }, first.receivedAt, clock());
    }
    const facts = { messages: turn.messages.length, attempt: turn.attempts + 1 };
    return tracer.span('parley.turn', { parent, facts }, () => run(turn, lease, signal));
  };
  return traced;
}
