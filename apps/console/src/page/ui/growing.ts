import type { InputOf, OperationName, OutputOf } from '@parley/gateway/operations';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import {
  askGateway,
  buildReadPath,
  type GatewayResponse,
  type RequestFailure,
} from '../gateway.ts';
import { type LoadedData, type RefreshPolicy, useOperation } from './data.tsx';

/** The position at which the next page of a list begins (`before=`); null at the end. */
type PageCursor = string | number | null;

/** A page in a list: its items, and the cursor for the next page. */
interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: PageCursor;
}

/** A list that may change at its beginning while older pages are loaded. */
export interface GrowingList<Answer, Item> extends LoadedData<readonly Item[]> {
  /** The gateway's latest answer for the first page. */
  readonly first: Answer | undefined;
  /** The position of the next older page; null if there is none. */
  readonly older: OlderPage | null;
}

/** The next older page of a list, which is loaded when a person asks for it. */
export interface OlderPage {
  readonly load: () => void;
  /** Whether the requested page is being loaded. */
  readonly isLoading: boolean;
  /** Why the page could not be loaded; null if there was no failure. */
  readonly failure: RequestFailure | null;
}

/**
 * The pages after the first one. Each page begins where the previous page ends, so there are no
 * gaps.
 */
interface RemainingPages<Item> {
  readonly pages: readonly Page<Item>[];
  readonly failure: RequestFailure | null;
}

const NONE: RemainingPages<never> = { pages: [], failure: null };

/** The state of loading a list page by page. */
interface PagingState<Item> {
  readonly path: string;
  first: Page<Item> | null;
  /** How many older pages the person has requested. */
  wanted: number;
  /** The key of the oldest requested item; null until it has been loaded. */
  oldest: string | null;
  isRunning: boolean;
  /** Whether the first page changed or another page was requested after loading began. */
  isDue: boolean;
}

/**
 * Loads the first page of an operation in the same way as `useOperation`, and older pages on
 * request. When the first page is reloaded, the older pages are reloaded as well, because items may
 * be new, moved or removed. If an item is on several pages, it is taken from the first of these.
 */
export function useGrowingList<Name extends OperationName, Item>(
  name: Name,
  input: InputOf<Name>,
  again: RefreshPolicy<OutputOf<Name>> | undefined,
  read: (answer: OutputOf<Name>) => Page<Item>,
  keyOf: (item: Item) => string,
): GrowingList<OutputOf<Name>, Item> {
  const first = useOperation(name, input, again);
  const path = buildReadPath(name, input);
  const fresh = { path, first: null, wanted: 0, oldest: null, isRunning: false, isDue: false };
  const ref = useRef<PagingState<Item>>(fresh);
  if (ref.current.path !== path) ref.current = fresh;
  const reading = ref.current;
  reading.first = first.value === undefined ? null : read(first.value);
  const loaded = useSignal({ of: reading, rest: NONE as RemainingPages<Item> });
  const rest = loaded.value.of === reading ? loaded.value.rest : NONE;
  const pageAt = async (before: PageCursor): Promise<GatewayResponse<Page<Item>>> => {
    const answer = await askGateway<OutputOf<Name>>(buildReadPath(name, { ...input, before }));
    return answer.kind === 'here' ? { kind: 'here', value: read(answer.value) } : answer;
  };
  /**
   * Loads the requested pages after the pages that are kept. Only one run loads pages at a time.
   */
  const run = async (kept: readonly Page<Item>[]): Promise<void> => {
    reading.isDue = reading.isRunning;
    if (reading.isRunning) return;
    reading.isRunning = true;
    const found = await loadRemainingPages(reading, kept, { pageAt, keyOf });
    reading.isRunning = false;
    if (ref.current !== reading) return;
    loaded.value = { of: reading, rest: found };
    if (reading.isDue) await run([]);
  };
  useEffect(() => {
    if (reading.first !== null && reading.wanted > 0) void run([]);
  }, [first.value]);
  const load = (): void => {
    reading.wanted = Math.max(reading.wanted, rest.pages.length + 1);
    reading.oldest = null;
    loaded.value = { of: reading, rest: { pages: rest.pages, failure: null } };
    void run(rest.pages);
  };
  const all = reading.first === null ? [] : [reading.first, ...rest.pages];
  const hasOlder = (all.at(-1)?.next ?? null) !== null;
  const isLoading = rest.failure === null && reading.wanted > rest.pages.length;
  return {
    ...first,
    value: first.value && listDistinctItems(all, keyOf),
    first: first.value,
    older: hasOlder ? { load, isLoading, failure: rest.failure } : null,
  };
}

interface PageReader<Item> {
  readonly pageAt: (before: PageCursor) => Promise<GatewayResponse<Page<Item>>>;
  readonly keyOf: (item: Item) => string;
}

/**
 * Loads as many pages as requested, plus one more if new items pushed the oldest item onto it.
 * After a failure, the pages after the failed page are left out, because there might be gaps.
 */
async function loadRemainingPages<Item>(
  reading: PagingState<Item>,
  kept: readonly Page<Item>[],
  { pageAt, keyOf }: PageReader<Item>,
): Promise<RemainingPages<Item>> {
  const pages = [...kept];
  const holdsOldest = (): boolean =>
    [reading.first, ...pages].some((page) =>
      page?.items.some((item) => keyOf(item) === reading.oldest),
    );
  const isEnough = (): boolean =>
    pages.length > reading.wanted ||
    (pages.length === reading.wanted && (reading.oldest === null || holdsOldest()));
  let next = pages.at(-1)?.next ?? reading.first?.next ?? null;
  while (next !== null && !isEnough()) {
    const answer = await pageAt(next);
    if (answer.kind === 'failed') return { pages, failure: answer };
    pages.push(answer.value);
    next = answer.value.next;
  }
  reading.wanted = Math.max(reading.wanted, pages.length);
  if (!holdsOldest()) {
    const oldest = pages.at(-1)?.items.at(-1);
    reading.oldest = oldest === undefined ? null : keyOf(oldest);
  }
  return { pages, failure: null };
}

/** The items of all pages in order, without duplicates. */
function listDistinctItems<Item>(
  pages: readonly Page<Item>[],
  keyOf: (item: Item) => string,
): readonly Item[] {
  const items = new Map<string, Item>();
  for (const item of pages.flatMap(({ items: some }) => some)) {
    if (!items.has(keyOf(item))) items.set(keyOf(item), item);
  }
  return [...items.values()];
}
