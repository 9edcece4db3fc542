import { compareTexts } from '@parley/prompt/compare-texts';
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { OutsideText, Section } from '../ui/widgets.tsx';
import { compareWords, type TextRun } from './compare-words.ts';
import { type FigureRow, listFigures } from './figures.ts';
import {
  describeOutcome,
  isSameCall,
  markOwnCalls,
  type ReplayChoice,
  type ReplayedAnswer,
  type ReplayedCall,
  type ReplayOutcome,
} from './outcome-words.ts';

interface OutcomeProps {
  readonly outcome: ReplayOutcome;
  readonly choice: ReplayChoice;
}

/** The outcome of one replay in words. */
export function OutcomeWords({ outcome, choice }: OutcomeProps): VNode {
  const { title, look, meaning, advice } = describeOutcome(outcome, choice);
  return (
    <div class={`replay-outcome ${look}`}>
      <h3 class="tone">{title}</h3>
      <p>{meaning}</p>
      <p class="facts">{advice}</p>
      {outcome.resumed && (
        <p class="facts">
          The turn was resumed, for example after an approval. Only its first prompt is recorded, so
          later requests of the replay use that one.
        </p>
      )}
    </div>
  );
}

/** The changed parts of the request, both answers side by side, and their figures. */
export function OutcomeSheet({ outcome }: Pick<OutcomeProps, 'outcome'>): VNode {
  const before = 'before' in outcome ? outcome.before : null;
  const after = 'after' in outcome ? outcome.after : null;
  return (
    <>
      <RequestChanges outcome={outcome} />
      {before !== null && (
        <>
          <Answers outcome={outcome} before={before} after={after} />
          <FigureTable
            label="Figures"
            rows={listFigures(before, after)}
            hasAfter={after !== null}
          />
        </>
      )}
    </>
  );
}

interface AnswersProps {
  readonly outcome: ReplayOutcome;
  readonly before: ReplayedAnswer;
  readonly after: ReplayedAnswer | null;
}

/** Both answers; words and calls that only one side has are marked. */
function Answers({ outcome, before, after }: AnswersProps): VNode {
  const words = useMemo(() => compareWords(before.text, after?.text ?? ''), [before, after]);
  const calls = 'changes' in outcome ? outcome.changes.find(({ kind }) => kind === 'calls') : null;
  const { removed = [], added = [] } = calls?.kind === 'calls' ? calls : {};
  if (after === null) {
    const runs = [{ text: before.text, isOwn: false }];
    return <Side title="Recorded" mark="del" answer={before} runs={runs} own={[]} />;
  }
  return (
    <div class="replay-sides">
      <Side title="Recorded" mark="del" answer={before} runs={words.before} own={removed} />
      <Side
        title="Replayed"
        mark="ins"
        answer={after}
        runs={words.after}
        own={added}
        unanswered={outcome.kind === 'diverged' ? outcome.call : undefined}
      />
    </div>
  );
}

interface SideProps {
  readonly title: string;
  readonly mark: 'ins' | 'del';
  readonly answer: ReplayedAnswer;
  readonly runs: readonly TextRun[];
  /** The calls that the other side lacks. */
  readonly own: readonly ReplayedCall[];
  /** The call that ended the replay, which is the last one of its kind. */
  readonly unanswered?: ReplayedCall | undefined;
}

function Side({ title, mark: Mark, answer, runs, own, unanswered }: SideProps): VNode {
  const { model, calls, text } = answer;
  const ended = calls.findLastIndex((call) => unanswered && isSameCall(call, unanswered));
  return (
    <Section title={title} look="replay-side">
      <p class="facts">{model}</p>
      <OutsideText look="card as-typed">
        {text === '' && <span class="hint">No text</span>}
        {runs.map((run, index) =>
          run.isOwn ? <Mark key={index}>{run.text}</Mark> : <span key={index}>{run.text}</span>,
        )}
      </OutsideText>
      {calls.length > 0 && (
        <ol class="replay-calls">
          {markOwnCalls(calls, own).map(({ call, isOwn }, index) => (
            <Call
              key={index}
              call={call}
              mark={isOwn ? Mark : 'span'}
              isAnswered={index !== ended}
            />
          ))}
        </ol>
      )}
    </Section>
  );
}

interface CallProps {
  readonly call: ReplayedCall;
  readonly mark: 'ins' | 'del' | 'span';
  readonly isAnswered: boolean;
}

/** One call; its arguments were written by a model. */
function Call({ call, mark: Mark, isAnswered }: CallProps): VNode {
  return (
    <li>
      <Mark>
        <b>{call.name}</b>
      </Mark>
      {!isAnswered && <span class="hint"> not answered</span>}
      <OutsideText as="pre" look="hint replay-arguments">
        {call.arguments}
      </OutsideText>
    </li>
  );
}

/** The parts of the request that differ, folded. */
function RequestChanges({ outcome }: Pick<OutcomeProps, 'outcome'>): VNode | null {
  const changes = 'changes' in outcome ? outcome.changes : [];
  const parts = changes.filter((change) => change.kind === 'request');
  if (parts.length === 0) return null;
  return (
    <Section title="Changed parts of the request">
      {parts.map((change) => (
        <RequestChange key={change.part} {...change} />
      ))}
    </Section>
  );
}

interface RequestChangeProps {
  readonly part: string;
  readonly before: string | null;
  readonly after: string | null;
}

const ELEMENTS = { same: 'span', added: 'ins', removed: 'del' } as const;

function RequestChange({ part, before, after }: RequestChangeProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const change = before === null ? 'new' : after === null ? 'removed' : 'changed';
  return (
    <details class="layer" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="row apart">
        <b>{part}</b>
        <span class={`badge change-${change}`}>{change}</span>
      </summary>
      {/* A long text is compared only when its part is opened. */}
      {isOpen && (
        <OutsideText as="pre" look="layer-text replay-diff">
          {compareTexts(before ?? '', after ?? '').map(({ kind, text }, index) => {
            const Element = ELEMENTS[kind];
            return <Element key={index}>{text}</Element>;
          })}
        </OutsideText>
      )}
    </details>
  );
}

interface TableProps {
  readonly label: string;
  readonly rows: readonly FigureRow[];
  readonly hasAfter?: boolean;
}

/** Figures of both sides with their difference. */
export function FigureTable({ label, rows, hasAfter = true }: TableProps): VNode {
  return (
    // In a narrow window the table scrolls sideways, so it must be reachable by keyboard.
    <div class="table-box usage-table replay-figures" role="group" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{label}</th>
            <th scope="col">Recorded</th>
            {hasAfter && <th scope="col">Replayed</th>}
            {hasAfter && <th scope="col">Difference</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, before, after, difference }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{before}</td>
              {hasAfter && <td>{after}</td>}
              {hasAfter && <td>{difference}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
