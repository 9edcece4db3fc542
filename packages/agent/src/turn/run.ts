import type { LaneLease } from '@parley/queue';
import type { ApprovalGate } from '../approvals/approval-gate.ts';
import type { LaterMessages } from '../busy/later-messages.ts';
import type { TurnJournal } from '../loop/turn-journal.ts';
import type { OpenedTurn, TurnDraft } from './build-prompt.ts';
import type { TurnMeans, TurnServices } from './means.ts';
import type { PendingPromptRecord } from './record-prompt.ts';
import type { Turn } from './turn.ts';

/** The state of a running turn. Previews have no `Run`, so they cannot write. */
export interface TurnRun {
  readonly lease: LaneLease;
  readonly signal: AbortSignal;
  readonly journal: TurnJournal;
  /**
   * Handles messages that arrive during the turn. If it is absent, these messages wait for the next
   * turn.
   */
  readonly later?: LaterMessages | undefined;
  /** If it is absent, calls that need an approval do not run. */
  readonly gate?: ApprovalGate | undefined;
  /**
   * Holds the turn's prompt until it is stored. If it is absent, the prompt is stored immediately.
   */
  readonly prompt?: PendingPromptRecord | undefined;
  /** Called with everything that people have seen of the answer so far. */
  readonly onShown?: (text: string) => void;
}

/** A turn while its model works: the values that the steps in the loop share. */
export interface RunningTurn extends TurnDraft {
  readonly services: TurnServices;
  readonly turn: Turn;
  readonly means: TurnMeans;
  readonly opened: OpenedTurn;
  readonly run: TurnRun;
}
