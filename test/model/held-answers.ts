/** An answer that the model holds back until it is released. */
export interface HeldAnswer {
  /** Resolves when the question has arrived. */
  readonly asked: Promise<void>;
  release(): void;
}

/** Lets tests act while the model is thinking. */
export class HeldAnswers {
  readonly #held = new Map<string, { begin(): void; readonly released: Promise<void> }>();

  /** Holds back the answer to the next question that ends with this text. */
  hold(ending: string): HeldAnswer {
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.#held.set(ending, { begin: asked.resolve, released: released.promise });
    return { asked: asked.promise, release: released.resolve };
  }

  /** Must be awaited before each answer. */
  async pass(question: string): Promise<void> {
    const [ending, held] = [...this.#held].find(([end]) => question.endsWith(end)) ?? [];
    if (ending === undefined || held === undefined) return;
    this.#held.delete(ending);
    held.begin();
    await held.released;
  }
}
