import type { Context } from './syntax.ts';

/**
 * How far a text was searched for an end in vain. What begins before that place finds none either:
 * without this, a text of openings alone would be read again from each.
 */
export class Failures {
  readonly #searched = new WeakMap<Context, number>();

  add(context: Context): void {
    this.#searched.set(context, context.now().offset);
  }

  include(context: Context): boolean {
    return context.now().offset < (this.#searched.get(context) ?? 0);
  }
}
