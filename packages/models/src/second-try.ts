import type { ModelEvent } from './chat-model.ts';

/** What is asked instead after this failure; null where it is final. */
export type SecondTry = (
  failure: unknown,
) => AsyncIterable<ModelEvent> | null | Promise<AsyncIterable<ModelEvent> | null>;

/**
 * Passes on what a model says. Where it fails before it has said a word, and nobody has given up, what
 * `next` gives is passed on instead: a person must not read the beginning of an answer twice.
 */
export async function* withSecondTry(
  events: AsyncIterable<ModelEvent>,
  signal: AbortSignal,
  next: SecondTry,
): AsyncGenerator<ModelEvent> {
  let spoke = false;
  let other: AsyncIterable<ModelEvent> | null;
  try {
    for await (const event of events) {
      spoke = true;
      yield event;
    }
    return;
  } catch (thrown) {
    other = spoke || signal.aborted ? null : await next(thrown);
    if (other === null) throw thrown;
  }
  for await (const event of other) {
    yield event.type === 'finish' ? { ...event, tries: (event.tries ?? 1) + 1 } : event;
  }
}
