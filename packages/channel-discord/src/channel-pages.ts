import { isLater, selectLaterId } from './positions.ts';

/** The number of channels in one page; a page is stored as a value of about 45 KB. */
const PAGE_SIZE = 1_000;
const MAX_PAGES = 50;

/** The newest stored message in each channel of a page. */
type ChannelPage = Map<string, string>;

/**
 * The newest stored message in each served channel, divided into pages, so that a write rewrites
 * only the pages that changed. Beyond 50,000 channels, the one that has been silent longest is
 * dropped and reported.
 */
export class ChannelPageStore {
  readonly #pages: ChannelPage[] = [new Map()];
  readonly #pageOf = new Map<string, number>();
  readonly #changed = new Set<number>();
  readonly #onDropped: (channelId: string) => void;

  constructor(onDropped: (channelId: string) => void) {
    this.#onDropped = onDropped;
  }

  get size(): number {
    return this.#pageOf.size;
  }

  has(channelId: string): boolean {
    return this.#pageOf.has(channelId);
  }

  get(channelId: string): string | undefined {
    return this.#pages[this.#pageOf.get(channelId) ?? -1]?.get(channelId);
  }

  all(): Map<string, string> {
    return new Map(this.#pages.flatMap((page) => [...page]));
  }

  /** Adds a channel or moves its position forward, never back. */
  advance(channelId: string, messageId: string): void {
    const index = this.#pageOf.get(channelId) ?? this.#roomFor(channelId);
    const page = this.#pages[index];
    page?.set(channelId, selectLaterId(page.get(channelId), messageId));
    this.#changed.add(index);
  }

  delete(channelId: string): void {
    const index = this.#pageOf.get(channelId);
    if (index === undefined) return;
    this.#pages[index]?.delete(channelId);
    this.#pageOf.delete(channelId);
    this.#changed.add(index);
  }

  /** The first page, and the number of pages that follow it. */
  get first(): { readonly channels: Record<string, string>; readonly pages: number } {
    return { channels: Object.fromEntries(this.#pages[0] ?? []), pages: this.#pages.length - 1 };
  }

  /**
   * Returns the changed pages after the first one since the last call, keyed by page number, and
   * clears their marks.
   */
  takeChanged(): Map<number, Record<string, string>> {
    const changed = [...this.#changed].filter((index) => index > 0);
    this.#changed.clear();
    return new Map(changed.map((index) => [index, Object.fromEntries(this.#pages[index] ?? [])]));
  }

  /** Marks pages as changed again after a failed write. */
  putBack(pages: Iterable<number>): void {
    for (const index of pages) this.#changed.add(index);
  }

  #roomFor(channelId: string): number {
    let index = this.#pages.findIndex((page) => page.size < PAGE_SIZE);
    if (index < 0 && this.#pages.length < MAX_PAGES) index = this.#pages.push(new Map()) - 1;
    if (index < 0) index = this.#dropSilent();
    this.#pageOf.set(channelId, index);
    return index;
  }

  /**
   * Drops the channel that has been silent longest, and returns the page on which this leaves a
   * free slot.
   */
  #dropSilent(): number {
    let silent: readonly [channelId: string, messageId: string] | undefined;
    for (const page of this.#pages) {
      for (const one of page) if (silent === undefined || isLater(silent[1], one[1])) silent = one;
    }
    const [channelId = ''] = silent ?? [];
    const index = this.#pageOf.get(channelId) ?? 0;
    this.delete(channelId);
    this.#onDropped(channelId);
    return index;
  }
}
