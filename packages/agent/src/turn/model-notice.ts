import type { TurnJournal } from '../loop/turn-journal.ts';
import type { TurnServices } from './means.ts';
import type { Turn } from './turn.ts';

/** Which model has given an answer, and which one was chosen in the conversation. */
interface Answered {
  readonly model: string;
  readonly insteadOf?: string | undefined;
}

/**
 * The notice beside an answer of another model than the chosen one: sent once, and again only after that has changed.
 * Null where there is nothing new to say. What was sent before is read from the newest answer, so that it holds
 * over restarts and for every worker; an answer of the chosen model costs no query.
 */
export async function modelNotice(
  { store }: Pick<TurnServices, 'store'>,
  { conversationId, session, route }: Turn,
  journal: TurnJournal,
): Promise<string | null> {
  const answered = answeredIn(journal);
  // A program would take it for a part of the answer.
  if (answered?.insteadOf === undefined || route.appends === true) return null;
  const before = await store.why.answeredBy(conversationId, session);
  return isSameModel(before, answered) ? null : noticeText(answered.model, answered.insteadOf);
}

function answeredIn(journal: Pick<TurnJournal, 'unstored'>): Answered | null {
  const facts = journal.unstored()?.timing?.facts;
  return facts?.kind === 'model' ? facts : null;
}

function isSameModel(before: Answered | null, now: Answered): boolean {
  return before?.model === now.model && before.insteadOf === now.insteadOf;
}

function noticeText(model: string, insteadOf: string): string {
  return `This answer is from ${model} instead of ${insteadOf}. You are told once, and again when it changes.`;
}
