import type { PromptSummary } from '@parley/store';
import type { VNode } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { AgentsHere, findAnsweringAgent, useRowAgents } from '../agents.tsx';
import { performOperation, type RequestFailure } from '../gateway.ts';
import { getChatName, TurnList, useTurns } from '../prompt/turn-list.tsx';
import { type Route, toHref } from '../route.ts';
import { useActionRunner } from '../ui/data.tsx';
import { formatMoment } from '../ui/format.ts';
import { SplitView } from '../ui/frames.tsx';
import { DataContent, OutsideText, ProblemNote } from '../ui/widgets.tsx';
import { KeepCase } from './keep-case.tsx';
import { LastTurns, REPLAY_TIMEOUT_MS, useReplaySeries } from './last-turns.tsx';
import { OutcomeSheet, OutcomeWords } from './outcome-sheet.tsx';
import type { ReplayChoice, ReplayOutcome } from './outcome-words.ts';
import { ReplayForm } from './replay-form.tsx';

/** Runs recorded turns again (G22): `#/replay/TURN`, and `#/replay/last` for the last turns. */
export function ReplayView({ args: [turn = ''] }: Route): VNode {
  const { data, turns } = useTurns();
  const all = useReplaySeries();
  const isLast = turn === '' || turn === 'last';
  const { outcomes = [], choice = {} } = all.series ?? {};
  const outcome = outcomes.find(({ turnId }) => turnId === turn);
  return (
    <SplitView
      name="replays"
      title="Replay"
      label="Turns"
      showsList={turn === ''}
      list={
        <>
          <a
            class="quiet"
            href={toHref('replay', 'last')}
            aria-current={isLast ? 'true' : undefined}
          >
            The last turns…
          </a>
          <DataContent data={data}>
            {() => (
              <TurnList
                view="replay"
                turns={turns}
                chosen={isLast ? undefined : turn}
                older={data.older}
              />
            )}
          </DataContent>
        </>
      }
      back={toHref('replay')}
    >
      {isLast ? (
        <LastTurns {...all} />
      ) : (
        <ReplaySheet
          key={turn}
          turnId={turn}
          summary={turns.find(({ turnId }) => turnId === turn)}
          known={outcome && { outcome, choice }}
        />
      )}
    </SplitView>
  );
}

/** An outcome, and what was chosen for it. */
interface ShownReplay {
  readonly outcome: ReplayOutcome;
  readonly choice: ReplayChoice;
}

interface SheetProps {
  readonly turnId: string;
  /** Absent if the turn is not among those listed. */
  readonly summary: PromptSummary | undefined;
  /** The outcome in a series of replays, which is shown first. */
  readonly known: ShownReplay | undefined;
}

/** One turn. It is opened with its request built again, which shows whether it can be replayed. */
function ReplaySheet({ turnId, summary, known }: SheetProps): VNode {
  const { shown, running, failure, replay } = useReplay(turnId, known);
  const { all } = useContext(AgentsHere);
  const conversation = shown?.outcome.conversationId ?? summary?.conversationId;
  const agent =
    conversation === undefined ? undefined : findAnsweringAgent(all, conversation)?.name;
  return (
    <>
      <SheetHead turnId={turnId} summary={summary} outcome={shown?.outcome} />
      {conversation !== undefined && (
        <ReplayForm
          agent={agent}
          submit={replay}
          cost="The answer is charged like any other; what it will cost is not known."
        />
      )}
      {failure && (
        <ProblemNote reason={failure.reason} again={failure.retryable && failure.again} />
      )}
      <div role="status">
        {running && (
          <p class="nothing">{running.dryRun ? 'Building the request…' : 'Asking the model…'}</p>
        )}
        {shown && running === null && <OutcomeWords {...shown} />}
      </div>
      {shown && running === null && (
        <>
          <OutcomeSheet outcome={shown.outcome} />
          {shown.outcome.kind !== 'incomplete' && <KeepCase turnId={turnId} agent={agent} />}
        </>
      )}
    </>
  );
}

/** The outcome of the last replay of a turn, whether one is running, and why one was refused. */
function useReplay(turnId: string, known: ShownReplay | undefined) {
  const [shown, setShown] = useState(known);
  const [running, setRunning] = useState<ReplayChoice | null>(null);
  const [failure, setFailure] = useState<(RequestFailure & { again: () => void }) | null>(null);
  const { run } = useActionRunner();
  const replay = (choice: ReplayChoice): void => {
    setRunning(choice);
    setFailure(null);
    run(async () => {
      const answer = await performOperation(
        'replay/turn',
        { turn: turnId, ...choice },
        REPLAY_TIMEOUT_MS,
      );
      setRunning(null);
      if (answer.kind === 'failed') setFailure({ ...answer, again: () => replay(choice) });
      else setShown({ outcome: answer.value, choice });
      return undefined;
    });
  };
  useEffect(() => {
    if (known === undefined) replay({ dryRun: true });
  }, []);
  return { shown, running, failure, replay };
}

interface HeadProps extends Pick<SheetProps, 'turnId' | 'summary'> {
  readonly outcome: ReplayOutcome | undefined;
}

function SheetHead({ turnId, summary, outcome }: HeadProps): VNode {
  const at = outcome?.at ?? summary?.at;
  const agent = useRowAgents().titleOf(outcome?.conversationId ?? summary?.conversationId ?? null);
  return (
    <header class="entry-head">
      <h2 class="title">{summary ? getChatName(summary) : 'Replay'}</h2>
      {at !== undefined && (
        <p>
          {formatMoment(at)}
          {agent !== null && ` · ${agent}`} · <a href={toHref('prompt', turnId)}>Prompt</a>
        </p>
      )}
      <p class="entry-id">{turnId}</p>
      {outcome && outcome.question !== '' && (
        <OutsideText as="blockquote" look="said">
          {outcome.question}
        </OutsideText>
      )}
    </header>
  );
}
