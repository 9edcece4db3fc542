import type { BeatRun, BeatTurn, ClaimedTurn } from '@parley/store';
import { textOf } from '../history.ts';
import type { StepUsage, TurnJournal } from '../loop/turn-journal.ts';
import { unseenMedia } from '../media/turn-media.ts';
import { accountOf } from '../spend.ts';
import {
  leadingMessage,
  type OpenedTurn,
  type OpenTurnDeps,
  openTurn,
  turnFacts,
  turnReader,
} from '../turn-opening.ts';
import { isOwnersAlone } from './beat-order.ts';

/** A run of a standing task, its turn, and what that has done so far. */
export interface Beating {
  readonly run: BeatRun;
  readonly turn: ClaimedTurn;
  readonly journal: TurnJournal;
}

/** For the one who is told of alerts, and for nobody who may see more (W02). */
export async function openBeat(
  deps: OpenTurnDeps,
  { target }: BeatRun,
  turn: ClaimedTurn,
): Promise<OpenedTurn> {
  const { kind } = turnReader(turn, deps);
  const { message, route } = leadingMessage(turn);
  const isOwners = kind === 'owner' && isOwnersAlone({ chatType: message.chat.type }, route);
  const reader = { kind: isOwners ? kind : ('guest' as const), conversationId: target };
  const text = textOf(turn.messages, unseenMedia().forModel);
  return openTurn(turn, text, deps, reader);
}

/** How a run ends of which nobody is told. */
interface UntoldEnd extends Pick<BeatTurn, 'reason'> {
  readonly state: Exclude<BeatTurn['state'], 'alerted'>;
  readonly usage: StepUsage | null;
}

/** The end of a run without an alert. */
export function untold(
  { agent, clock }: Pick<OpenTurnDeps, 'agent' | 'clock'>,
  { run, turn }: Beating,
  { state, reason, usage }: UntoldEnd,
): BeatTurn {
  const account = accountOf(turnFacts(turn, agent, clock()), agent, clock);
  const outcome = state === 'failed' ? ('failed' as const) : ('silent' as const);
  const base = { turnId: turn.turnId, entries: [], parts: [], account };
  const commit = { ...base, outcome, usage, ...(reason !== null && { reason }) };
  return { id: run.id, commit, state, reason };
}
