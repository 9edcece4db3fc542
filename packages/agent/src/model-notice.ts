import type { TurnJournal } from './loop/turn-journal.ts';
import type { SeenTurn } from './turn-answer.ts';
import { leadingMessage } from './turn-opening.ts';
import type { TurnServices } from './turn-services.ts';

/** Which model has given an answer, and which one was chosen in the conversation. */
interface Answered {
  readonly model: string;
  readonly insteadOf?: string | undefined;
}

/**
 * What the chat is told beside an answer of another model than the chosen one: once, and again only after that has
 * changed. Null where there is nothing new to tell. What was told before is read from the newest answer, so that
 * it holds over restarts and for every worker; a usual answer asks nothing.
 */
export async function modelNotice(
  { store }: Pick<TurnServices, 'store'>,
  { turn, journal }: Pick<SeenTurn, 'turn' | 'journal'>,
): Promise<string | null> {
  const answered = answeredIn(journal);
  // A program would take it for a part of the answer.
  if (answered?.insteadOf === undefined || leadingMessage(turn).route.appends === true) return null;
  const before = await store.why.answeredBy(turn.conversationId, turn.session);
  return isSame(before, answered) ? null : noticeText(answered.model, answered.insteadOf);
}

function answeredIn(journal: Pick<TurnJournal, 'unstored'>): Answered | null {
  const facts = journal.unstored()?.timing?.facts;
  return facts?.kind === 'model' ? facts : null;
}

function isSame(before: Answered | null, now: Answered): boolean {
  return before?.model === now.model && before.insteadOf === now.insteadOf;
}

function noticeText(model: string, insteadOf: string): string {
  return `This answer is from ${model} instead of ${insteadOf}. You are told once, and again when it changes.`;
}
