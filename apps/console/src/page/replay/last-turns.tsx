import { compareSeverity } from '@parley/agent/replay-summary';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useRowAgents } from '../agents.tsx';
import { performOperation } from '../gateway.ts';
import { toHref } from '../route.ts';
import { formatCounted, formatMoment } from '../ui/format.ts';
import { ActionButton, LabeledField, ProblemNote } from '../ui/widgets.tsx';
import { listTotals } from './figures.ts';
import { FigureTable } from './outcome-sheet.tsx';
import {
  describeOutcome,
  type ReplayChoice,
  type ReplayOutcome,
  summarizeOutcome,
} from './outcome-words.ts';
import { ReplayForm } from './replay-form.tsx';

/** How long the page waits for one replay, in ms: a little longer than the gateway. */
export const REPLAY_TIMEOUT_MS = 130_000;

/** Several turns, replayed one after another with the same choice. */
export interface ReplaySeries {
  readonly choice: ReplayChoice;
  /** How many turns are to be replayed; null while they are being listed. */
  readonly total: number | null;
  readonly outcomes: readonly ReplayOutcome[];
  readonly state: 'running' | 'stopping' | 'over';
  /** Why it ended early. */
  readonly trouble: string | null;
}

/** Runs series of replays. The page keeps the outcomes while single turns are shown. */
export function useReplaySeries() {
  const [series, setSeries] = useState<ReplaySeries | null>(null);
  const { isShown } = useRowAgents();
  const current = useRef({ isStopped: false });
  useEffect(
    () => () => {
      current.current.isStopped = true;
    },
    [],
  );
  const start = async (count: number, choice: ReplayChoice): Promise<void> => {
    const own = { isStopped: false };
    current.current = own;
    let now: ReplaySeries = {
      ...{ choice, total: null, outcomes: [], state: 'running', trouble: null },
    };
    const show = (news: Partial<ReplaySeries>): void => {
      now = { ...now, ...news };
      setSeries(own.isStopped && now.state === 'running' ? { ...now, state: 'stopping' } : now);
    };
    show({});
    const listed = await performOperation('prompts/list', { limit: count });
    if (listed.kind === 'failed') return show({ state: 'over', trouble: listed.reason });
    const turns = listed.value.prompts.filter(({ conversationId }) => isShown(conversationId));
    show({ total: turns.length });
    for (const { turnId } of turns) {
      if (own.isStopped) break;
      const answer = await performOperation(
        'replay/turn',
        { turn: turnId, ...choice },
        REPLAY_TIMEOUT_MS,
      );
      if (answer.kind === 'failed') return show({ state: 'over', trouble: answer.reason });
      show({ outcomes: [...now.outcomes, answer.value] });
    }
    show({ state: 'over' });
  };
  const stop = (): void => {
    current.current.isStopped = true;
    setSeries((now) => now && { ...now, state: 'stopping' });
  };
  return { series, start: (...args: Parameters<typeof start>) => void start(...args), stop };
}

const COUNTS = [10, 20, 50, 100];

/** Replays the last turns, and shows the worst outcomes first. */
export function LastTurns(props: ReturnType<typeof useReplaySeries>): VNode {
  const { series, start, stop } = props;
  const [count, setCount] = useState(20);
  const { chosen } = useRowAgents();
  const isRunning = series !== null && series.state !== 'over';
  return (
    <>
      <header class="entry-head">
        <h2 class="title">The last turns</h2>
        <p>
          Runs them again, one after another: unchanged, or with another model, profile or file.
          Nothing can be sent or written, and tools are answered from the record.
        </p>
      </header>
      <ReplayForm
        agent={chosen?.name}
        isBusy={isRunning}
        submit={(choice) => start(count, choice)}
        cost={`Up to ${count} answers are charged like any others; what they will cost is not known.`}
      >
        <CountChoice count={count} choose={setCount} />
      </ReplayForm>
      {series && <Progress series={series} stop={stop} />}
      {series && series.outcomes.length > 0 && <Summary series={series} />}
    </>
  );
}

interface CountProps {
  readonly count: number;
  readonly choose: (count: number) => void;
}

function CountChoice({ count, choose }: CountProps): VNode {
  return (
    <LabeledField label="Turns" id="replay-count">
      <select
        id="replay-count"
        class="field"
        value={count}
        onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
      >
        {COUNTS.map((number) => (
          <option key={number} value={number}>
            The last {number}
          </option>
        ))}
      </select>
    </LabeledField>
  );
}

interface ProgressProps {
  readonly series: ReplaySeries;
  readonly stop: () => void;
}

function Progress({ series, stop }: ProgressProps): VNode {
  const { total, outcomes, state, trouble } = series;
  return (
    <>
      <div class="row apart">
        <p role="status">{describeProgress(series)}</p>
        {state !== 'over' && (
          <ActionButton label="Stop" isBusy={state === 'stopping'} onPress={stop} />
        )}
      </div>
      {state !== 'over' && total !== null && total > 0 && (
        <progress aria-label="Replayed turns" value={outcomes.length} max={total} />
      )}
      <ProblemNote reason={trouble} />
    </>
  );
}

/** How far a series is, and how many turns had which outcome. */
function describeProgress({ total, outcomes, state }: ReplaySeries): string {
  if (total === null) return state === 'over' ? 'No turn was replayed.' : 'Listing the turns…';
  if (total === 0) return 'No turn is recorded here yet. Write to the agent first.';
  if (state === 'stopping') return 'Stopping after the current turn…';
  const sorted = outcomes.toSorted(compareSeverity);
  const kinds = Object.entries(Object.groupBy(sorted, ({ kind }) => kind));
  const counts = kinds.map(([kind, some]) => `${some.length} ${kind}`).join(', ');
  const all = formatCounted(total, 'turn');
  const head = state === 'over' && outcomes.length === total ? all : `${outcomes.length} of ${all}`;
  return counts === '' ? `${head}…` : `${head}: ${counts}${state === 'over' ? '.' : '…'}`;
}

function Summary({ series: { outcomes, choice } }: { readonly series: ReplaySeries }): VNode {
  const totals = listTotals(outcomes);
  return (
    <>
      <div class="table-box usage-table replay-table" role="group" aria-label="Turns" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {['Turn', 'Outcome', 'What', 'Tokens', 'Money', 'Latency'].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {outcomes.toSorted(compareSeverity).map((outcome) => (
              <SummaryRow key={outcome.turnId} outcome={outcome} choice={choice} />
            ))}
          </tbody>
        </table>
      </div>
      {totals.some(({ difference }) => difference !== '') && (
        <FigureTable label="Totals" rows={totals} />
      )}
    </>
  );
}

interface RowProps {
  readonly outcome: ReplayOutcome;
  readonly choice: ReplayChoice;
}

function SummaryRow({ outcome, choice }: RowProps): VNode {
  const { turnId, question, at } = outcome;
  const { title, look } = describeOutcome(outcome, choice);
  return (
    <tr class={look}>
      <th scope="row">
        <a class="clip" href={toHref('replay', turnId)}>
          {question === '' ? turnId : question}
        </a>
        <small class="hint">{formatMoment(at)}</small>
      </th>
      <td>
        <span class="badge">{title}</span>
      </td>
      <td>{summarizeOutcome(outcome)}</td>
      {listTotals([outcome]).map(({ name, difference }) => (
        <td key={name}>{difference || '–'}</td>
      ))}
    </tr>
  );
}
