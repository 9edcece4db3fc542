import type { TurnJournal } from '../loop/turn-journal.ts';
import type { TurnServices } from './means.ts';
import type { Turn } from './turn.ts';

/** The model that gave an answer, and the one selected in the conversation. */
interface AnsweringModel {
  readonly model: string;
  readonly insteadOf?: string | undefined;
}

/**
 * The notice that accompanies an answer from a model other than the selected one. The notice is
 * sent once, and again only after the answering model changes; null if there is nothing new to
 * report. The model of the previous answer is read from the store, so the rule holds across
 * restarts and workers. An answer from the selected model needs no query.
 */
export async function createModelNotice(
  { store }: Pick<TurnServices, 'store'>,
  { conversationId, session, route }: Turn,
  journal: TurnJournal,
): Promise<string | null> {
  const answered = findAnsweringModel(journal);
  // A program would mistake the notice for part of the answer.
  if (answered?.insteadOf === undefined || route.appends === true) return null;
  const before = await store.why.answeredBy(conversationId, session);
  return isSameModel(before, answered)
    ? null
    : formatModelNotice(answered.model, answered.insteadOf);
}

function findAnsweringModel(journal: Pick<TurnJournal, 'unstored'>): AnsweringModel | null {
  const facts = journal.unstored()?.timing?.facts;
  return facts?.kind === 'model' ? facts : null;
}

function isSameModel(before: AnsweringModel | null, now: AnsweringModel): boolean {
  return before?.model === now.model && before.insteadOf === now.insteadOf;
}

function formatModelNotice(model: string, insteadOf: string): string {
  return `This answer is from ${model} instead of ${insteadOf}. I say so once, and again when it changes.`;
}
