import type { InputOf, OperationName, OutputOf } from '@parley/gateway/operations';
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { askGateway, buildReadPath, type RequestFailure } from '../gateway.ts';
import { type LoadedData, type RefreshPolicy, useOperation } from '../ui/data.tsx';

/**
 * A page of a list: its items, and the cursor for the next page (`before=`), which is null at the
 * end.
 */
interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly next: string | number | null;
}

/** A list that changes at its beginning while older pages are loaded. */
export interface GrowingList<Answer, Item> extends LoadedData<readonly Item[]> {
  /** The gateway's latest answer for the first page; older pages may be out of date. */
  readonly first: Answer | undefined;
  /** Loads the next older page; null if there is none. */
  readonly older: (() => Promise<void>) | null;
}

interface KnownPages<Item> {
  readonly path: string;
  readonly items: Map<string, Item>;
  next: ListPage<Item>['next'];
  /** Whether older pages were loaded; `next` is the cursor of the last one. */
  isGrown: boolean;
}

/**
 * Loads the first page of an operation as `useOperation` does, and older pages on request. Unlike
 * with `usePages`, older pages are kept when the first page is refreshed. Items with the same key
 * are merged, and the most recently loaded version wins; their order is unspecified.
 */
export function useGrowingList<Name extends OperationName, Item>(
  name: Name,
  input: InputOf<Name>,
  again: RefreshPolicy<OutputOf<Name>>,
  read: (answer: OutputOf<Name>) => ListPage<Item>,
  keyOf: (item: Item) => string,
): GrowingList<OutputOf<Name>, Item> {
  const first = useOperation(name, input, again);
  const path = buildReadPath(name, input);
  const failure = useSignal<RequestFailure | null>(null);
  const loaded = useSignal(0);
  const fresh = { path, items: new Map(), next: null, isGrown: false };
  const ref = useRef<KnownPages<Item>>(fresh);
  if (ref.current.path !== path) ref.current = fresh;
  const list = ref.current;
  const add = ({ items }: ListPage<Item>): void => {
    for (const item of items) list.items.set(keyOf(item), item);
  };
  if (first.value !== undefined) {
    const page = read(first.value);
    if (!list.isGrown || page.next === null) list.next = page.next;
    // Items missing from the page no longer exist, unless they are on an older page.
    if (!list.isGrown || page.next === null) list.items.clear();
    add(page);
  }
  const older = async (): Promise<void> => {
    const answer = await askGateway<OutputOf<Name>>(
      buildReadPath(name, { ...input, before: list.next }),
    );
    if (answer.kind === 'here') {
      const page = read(answer.value);
      list.next = page.next;
      list.isGrown = true;
      add(page);
    }
    failure.value = answer.kind === 'failed' ? answer : null;
    loaded.value += 1;
  };
  void loaded.value;
  return {
    value: first.value && [...list.items.values()],
    first: first.value,
    failure: first.failure ?? failure.value,
    isLoading: first.isLoading,
    older: list.next === null ? null : older,
  };
}
