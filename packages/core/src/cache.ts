/** A bounded map: beyond `capacity` entries it drops the oldest one. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #capacity: number;

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
 * Memoizes a pure function of text, so that a prompt that hardly changes is not processed again for
 * every message. The cache holds between half of `characters` and all of them, dropping text that
 * was not used recently. Text longer than a quarter of `characters` is not memoized.
 */
export function memoizeByText<Made extends NonNullable<unknown>>(
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
