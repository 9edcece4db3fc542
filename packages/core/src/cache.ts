/** A map for what may be forgotten: beyond `capacity` entries it drops the one that was set longest ago. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #capacity: number;

  /** @param capacity most entries that are kept. */
  constructor(capacity: number) {
    super();
    this.#capacity = capacity;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    for (const oldest of this.keys()) {
      if (this.size <= this.#capacity) break;
      this.delete(oldest);
    }
    return this;
  }
}

/**
 * Remembers what a pure function makes of texts, so that a prompt that hardly changes is not read again
 * with every message. Between half of `characters` and all of them are kept; what was not asked for
 * lately goes. A text of more than a quarter of that is not remembered.
 */
export function rememberTexts<Made extends NonNullable<unknown>>(
  make: (text: string) => Made,
  characters: number,
): { (text: string): Made; clear(): void } {
  let young = new Map<string, Made>();
  let old = young;
  let size = 0;
  const remember = (text: string): Made => {
    const known = young.get(text);
    if (known !== undefined) return known;
    const made = old.get(text) ?? make(text);
    if (text.length > characters / 4) return made;
    size += text.length;
    if (size > characters / 2) {
      old = young;
      young = new Map();
      size = text.length;
    }
    young.set(text, made);
    return made;
  };
  const clear = (): void => {
    young = new Map();
    old = young;
    size = 0;
  };
  return Object.assign(remember, { clear });
}
