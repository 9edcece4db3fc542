import { type Signal, useSignal } from '@preact/signals';
import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { ask, type Failure, type Outcome } from '../gateway.ts';
import { Trouble } from './widgets.tsx';

/** What the gateway has answered for a path, kept up to date while it is shown. */
export interface Data<Value> {
  /** The last answer; it stays while it is asked again, also in vain. */
  readonly value: Value | undefined;
  readonly failure: Failure | null;
  readonly isLoading: boolean;
  refresh(): void;
}

/** Counts the refreshes of a view: all its data is asked for again when it changes. */
const Round = createContext<Signal<number> | null>(null);

/** The scope of one view: its refresh button and its actions refresh all data that is used in it. */
export function DataScope({ children }: { readonly children: ComponentChildren }): VNode {
  return <Round.Provider value={useSignal(0)}>{children}</Round.Provider>;
}

/** Refreshes all data of the view; outside of one, what the component itself shows. */
export function useRefresh(): () => void {
  return useRound().refresh;
}

function useRound() {
  const own = useSignal(0);
  const round = useContext(Round) ?? own;
  const refresh = (): void => {
    round.value += 1;
  };
  return { round, refresh };
}

interface DataState<Value> extends Pick<Data<Value>, 'value' | 'failure' | 'isLoading'> {
  readonly path: string | null;
}

/** After a failure that may pass it is asked again after so many ms. */
const RETRY_MS = 5_000;

/**
 * Loads `path` when it changes and when the view is refreshed, which it does itself when the window gets the
 * focus, and with `everyMs` so often while the window is visible. Null loads nothing and keeps what there is.
 * `Value` is the type that the gateway declares for the path.
 *
 * @example
 * const audit = useData<AuditReport>('/api/audit');
 * return <Show data={audit}>{(report) => <Findings report={report} />}</Show>;
 */
export function useData<Value>(
  path: string | null,
  everyMs?: number | ((value: Value | undefined) => number),
): Data<Value> {
  const { round, refresh } = useRound();
  const state = useSignal<DataState<Value>>({
    path,
    value: undefined,
    failure: null,
    isLoading: path !== null,
  });
  useEffect(() => {
    if (path === null) return;
    let isOver = false;
    const { value, failure } = state.peek().path === path ? state.peek() : NOTHING;
    state.value = { path, value, failure, isLoading: true };
    ask<Value>(path).then((answer) => {
      if (isOver) return;
      state.value =
        answer.kind === 'here'
          ? { path, value: answer.value, failure: null, isLoading: false }
          : { path, value, failure: answer, isLoading: false };
    });
    return () => {
      isOver = true;
    };
  }, [path, round.value]);
  const { failure, isLoading, ...had } = state.value;
  // Until the effect runs, the state is that of the path before.
  const isOld = path !== null && had.path !== path;
  const value = isOld ? undefined : had.value;
  useEffect(() => {
    if (isLoading || path === null) return;
    const ms = typeof everyMs === 'function' ? everyMs(value) : everyMs;
    return whenDue(failure?.retryable ? RETRY_MS : ms, refresh);
  }, [state.value]);
  return isOld ? { ...NOTHING, isLoading: true, refresh } : { value, failure, isLoading, refresh };
}

const NOTHING = { value: undefined, failure: null } as const;

/** Calls once: after `ms`, but not while the window is hidden; or when it gets the focus. */
function whenDue(ms: number | undefined, task: () => void): () => void {
  const over = new AbortController();
  const { signal } = over;
  const due = (): void => {
    if (document.hidden)
      document.addEventListener('visibilitychange', task, { once: true, signal });
    else task();
  };
  const timer = ms === undefined ? undefined : setTimeout(due, ms);
  addEventListener('focus', task, { once: true, signal });
  return () => {
    clearTimeout(timer);
    over.abort();
  };
}

/** The data once it is here; until then that it is awaited, or why there is none and what to do. */
export function Show<Value>(props: {
  readonly data: Data<Value>;
  readonly children: (value: Value) => ComponentChildren;
}): VNode {
  const { value, failure, isLoading, refresh } = props.data;
  return (
    <>
      {failure && (
        <Trouble reason={failure.reason} {...(failure.retryable && { again: refresh })} />
      )}
      {value !== undefined && props.children(value)}
      {value === undefined && isLoading && !failure && (
        <p class="facts" role="status">
          Loading…
        </p>
      )}
    </>
  );
}

/** A list that the gateway answers page by page. */
export interface Pages<Item> extends Data<readonly Item[]> {
  /** Loads the page after those that are here; null: there is none. */
  readonly more: (() => void) | null;
}

/** Where the items of a page are, and what asks for the page after it (`before=`). */
type ReadPage<Page, Item> = (page: Page) => {
  readonly items: readonly Item[];
  readonly next: string | number | null;
};

/** Loads the first page of `path` like `useData`, and more pages on request; a refresh leaves the first one. */
export function usePages<Page, Item>(path: string, read: ReadPage<Page, Item>): Pages<Item> {
  const first = useData<Page>(path);
  const added = useSignal<{
    after: Page | undefined;
    pages: readonly Page[];
    failure: Failure | null;
  }>({ after: undefined, pages: [], failure: null });
  const { after, pages, failure } = added.value;
  const older = after === first.value ? pages : [];
  const all = first.value === undefined ? [] : [first.value, ...older].map(read);
  const next = all.at(-1)?.next ?? null;
  const more = async (): Promise<void> => {
    const answer = await ask<Page>(
      `${path}${path.includes('?') ? '&' : '?'}before=${encodeURIComponent(String(next))}`,
    );
    added.value =
      answer.kind === 'here'
        ? { after: first.value, pages: [...older, answer.value], failure: null }
        : { after: first.value, pages: older, failure: answer };
  };
  return {
    ...first,
    value: first.value && all.flatMap(({ items }) => items),
    failure: first.failure ?? (after === first.value ? failure : null),
    more: next === null ? null : () => void more(),
  };
}

/** What a person can do in a view, one thing at a time; the buttons wait while it `isBusy`. */
export interface Work {
  readonly isBusy: boolean;
  readonly outcome: Outcome | undefined;
  /** Does it, shows how it ended (`OutcomeNote`), and refreshes the view. */
  run(work: () => Promise<Outcome | undefined>): void;
}

/** See `Work`. */
export function useWork(): Work {
  const isBusy = useSignal(false);
  const outcome = useSignal<Outcome | undefined>(undefined);
  const refresh = useRefresh();
  const run = async (work: () => Promise<Outcome | undefined>): Promise<void> => {
    isBusy.value = true;
    outcome.value = await work();
    isBusy.value = false;
    refresh();
  };
  return { isBusy: isBusy.value, outcome: outcome.value, run: (work) => void run(work) };
}
