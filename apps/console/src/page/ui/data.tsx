import { type Signal, useSignal } from '@preact/signals';
import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { ask, type Failure, type Outcome } from '../gateway.ts';
import { Trouble } from './widgets.tsx';

/** What the gateway has answered for a path, kept up to date while it is shown. */
export interface Data<Value> {
  /** The last answer; it stays while it is loaded again, also in vain. */
  readonly value: Value | undefined;
  readonly failure: Failure | null;
  readonly isLoading: boolean;
}

/** Counts the refreshes of a view: all its data is loaded again when it changes. */
const Round = createContext<Signal<number> | null>(null);

/** The scope of one view: its refresh button and its actions refresh all data that is used in it. */
export function DataScope({ children }: { readonly children: ComponentChildren }): VNode {
  return <Round.Provider value={useSignal(0)}>{children}</Round.Provider>;
}

/** Loads all data of the view again; outside of one, that of the component. */
export function useRefresh() {
  const own = useSignal(0);
  const round = useContext(Round) ?? own;
  const refresh = (): void => {
    round.value += 1;
  };
  return { refresh, round: round.value };
}

const LOADING = { value: undefined, failure: null, isLoading: true } as const;
/** After a failure that may pass it is loaded again after so many ms. */
const RETRY_MS = 5_000;

/**
 * Loads `path` when it changes and when the view is refreshed, which it does itself when the window gets the
 * focus, and with `everyMs` so often while the window is visible. Null loads nothing and keeps what there is.
 * `Value` is the type that the gateway declares for the path.
 *
 * @example
 * const audit = useData<AuditReport>('/api/audit');
 * return <Show data={audit}>{(report) => <Findings {...report} />}</Show>;
 */
export function useData<Value>(
  path: string | null,
  everyMs?: number | ((value: Value | undefined) => number),
): Data<Value> {
  const { refresh, round } = useRefresh();
  const state = useSignal<Data<Value> & { readonly path: string | null }>({ path, ...LOADING });
  const isOwn = path === null || state.value.path === path;
  const { value, failure, isLoading }: Data<Value> = isOwn ? state.value : LOADING;
  useEffect(() => {
    if (path === null) return;
    let isOver = false;
    state.value = { path, value, failure, isLoading: true };
    ask<Value>(path).then((answer) => {
      if (isOver) return;
      const isHere = answer.kind === 'here';
      const news = isHere ? { value: answer.value, failure: null } : { value, failure: answer };
      state.value = { path, isLoading: false, ...news };
    });
    return () => {
      isOver = true;
    };
  }, [path, round]);
  useEffect(() => {
    if (isLoading || path === null) return;
    const ms = typeof everyMs === 'function' ? everyMs(value) : everyMs;
    return whenDue(failure?.retryable ? RETRY_MS : ms, refresh);
  }, [state.value]);
  return { value, failure, isLoading };
}

/** Calls once: after `ms`, but not while the window is hidden; or when it gets the focus. */
function whenDue(ms: number | undefined, task: () => void): () => void {
  const over = new AbortController();
  const once = { once: true, signal: over.signal };
  const due = (): void => {
    if (document.hidden) document.addEventListener('visibilitychange', task, once);
    else task();
  };
  const timer = ms === undefined ? undefined : setTimeout(due, ms);
  addEventListener('focus', task, once);
  return () => {
    clearTimeout(timer);
    over.abort();
  };
}

interface ShowProps<Value> {
  readonly data: Data<Value>;
  readonly children: (value: Value) => ComponentChildren;
}

/** The data once it is here; until then that it is loading, or why there is none and what to do. */
export function Show<Value>({ data, children }: ShowProps<Value>): VNode {
  const { value, failure } = data;
  const { refresh } = useRefresh();
  const isAwaited = value === undefined && !failure;
  return (
    <>
      {failure && <Trouble reason={failure.reason} again={failure.retryable && refresh} />}
      {isAwaited && (
        <p class="facts" role="status">
          Loading…
        </p>
      )}
      {value !== undefined && children(value)}
    </>
  );
}

/** A list that the gateway answers page by page. */
export interface Pages<Item> extends Data<readonly Item[]> {
  /** Loads the page after those that are here; null: there is none. */
  readonly more: (() => void) | null;
}

/**
 * Loads the first page of `path` like `useData`, and more pages on request; a refresh leaves the first one.
 * `read` finds the items of a page, and what asks for the page after it (`before=`).
 */
export function usePages<Page, Item>(
  path: string,
  read: (page: Page) => {
    readonly items: readonly Item[];
    readonly next: string | number | null;
  },
): Pages<Item> {
  const first = useData<Page>(path);
  const none = { of: first.value, pages: [] as Page[], failure: first.failure };
  const added = useSignal(none);
  const older = added.value.of === first.value ? added.value : none;
  const all = first.value === undefined ? [] : [first.value, ...older.pages].map(read);
  const next = all.at(-1)?.next ?? null;
  const more = async (): Promise<void> => {
    const query = `before=${encodeURIComponent(String(next))}`;
    const answer = await ask<Page>(`${path}${path.includes('?') ? '&' : '?'}${query}`);
    const isHere = answer.kind === 'here';
    added.value = {
      of: first.value,
      pages: isHere ? [...older.pages, answer.value] : older.pages,
      failure: isHere ? null : answer,
    };
  };
  return {
    value: first.value && all.flatMap(({ items }) => items),
    failure: first.failure ?? older.failure,
    isLoading: first.isLoading,
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
  const { refresh } = useRefresh();
  const run = async (work: () => Promise<Outcome | undefined>): Promise<void> => {
    isBusy.value = true;
    outcome.value = await work();
    isBusy.value = false;
    refresh();
  };
  return { isBusy: isBusy.value, outcome: outcome.value, run: (work) => void run(work) };
}
