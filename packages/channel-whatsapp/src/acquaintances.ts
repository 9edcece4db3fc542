import type { AdapterValues } from '@parley/contracts';
import type { PersonIds } from './jids.ts';

const KIND = 'person';

/**
 * Under which of their two names the core knows a person. It is the number, as soon as that is known:
 * so a number in the settings fits whoever writes under an identity without one. Only somebody who was
 * let in while nobody knew their number keeps the identity, because their chat, and the settings that
 * let them in, are under it.
 */
export class Acquaintances {
  readonly #values: AdapterValues;

  constructor(values: AdapterValues) {
    this.#values = values;
  }

  /** The JID that stands for a person; undefined for nobody. */
  async jidOf({ lid, pn }: PersonIds): Promise<string | undefined> {
    if (lid === undefined || pn === undefined) return pn ?? lid;
    const kept = await this.#values.get(KIND, [lid]);
    return kept.has(lid) ? lid : pn;
  }

  /** Somebody was let in to a chat of their own. */
  async letIn({ lid, pn }: PersonIds): Promise<void> {
    if (lid === undefined || pn !== undefined) return;
    const kept = await this.#values.get(KIND, [lid]);
    if (!kept.has(lid)) await this.#values.set([{ kind: KIND, id: lid, value: 'identity' }]);
  }
}
