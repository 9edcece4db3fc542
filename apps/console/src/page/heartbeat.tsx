import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { type ActionOutcome, createRandomId, performOperation } from './gateway.ts';
import { type ActionRunner, useActionRunner, useOperation } from './ui/data.tsx';
import { capitalize, formatAmount } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import { ActionButton, DataContent, List, OutcomeNote, OutsideText } from './ui/widgets.tsx';

/** How often (ms) the page refreshes while a task is running; otherwise it refreshes less often. */
const SOON_MS = 1_500;
const LATER_MS = 60_000;

type HeartbeatReport = OutputOf<'heartbeat/report'>;

/** Standing tasks, their runs, and why something did not run (H01–H05). */
export function HeartbeatView(): VNode {
  const data = useOperation('heartbeat/report', {}, (report) =>
    report?.tasks.some(({ last }) => last.state === 'running') ? SOON_MS : LATER_MS,
  );
  const work = useActionRunner();
  return (
    <ColumnView name="heartbeat-view" title="Heartbeat">
      <OutcomeNote outcome={work.outcome} />
      <DataContent data={data}>
        {(report) => <HeartbeatPlan report={report} work={work} />}
      </DataContent>
    </ColumnView>
  );
}

/**
 * Runs a task immediately. Each button press has a new id, so a request sent twice runs the task
 * only once.
 */
async function runTaskNow(task: string): Promise<ActionOutcome> {
  const answer = await performOperation('heartbeat/now', { id: createRandomId(), task });
  if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
  return { text: answer.value.text, isTrouble: answer.value.task === null };
}

function HeartbeatPlan({ report, work }: { report: HeartbeatReport; work: ActionRunner }): VNode {
  const { plan, timeZone, timeZoneFrom, tokens, tasks, runs, problems } = report;
  const { lastSkip } = plan;
  return (
    <>
      <p>
        {capitalize(plan.text.replaceAll('`', ''))} ({timeZone}
        {timeZoneFrom !== undefined && `, from ${timeZoneFrom}`})
      </p>
      <p class="facts">
        {formatAmount(tokens.today)} of {formatAmount(tokens.perDay)} tokens today.
        {lastSkip !== null && ` The last heartbeat run did not start a task: ${lastSkip}.`}
      </p>
      {problems.length > 0 && (
        <section class="trouble" aria-label="Problems">
          <h3>HEARTBEAT.md needs a fix</h3>
          <ul>
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </section>
      )}
      <h3>Tasks</h3>
      {tasks.length === 0 ? (
        <NoTasks />
      ) : (
        <List look="cards" of={tasks}>
          {(task) => <HeartbeatTask key={task.name} task={task} work={work} />}
        </List>
      )}
      {runs.length > 0 && <RunList runs={runs} />}
    </>
  );
}

type StandingTask = HeartbeatReport['tasks'][number];

/** The text in a task was written by people and models, so it is shown as plain text. */
function HeartbeatTask({ task, work }: { task: StandingTask; work: ActionRunner }): VNode {
  const { name, schedule, instruction, tell, last, next } = task;
  const isRunning = last.state === 'running';
  return (
    <article class="card heartbeat-task" aria-label={name}>
      <header>
        <div>
          <h4>{name}</h4>
          <p class="facts">{tell === null ? schedule : `${schedule}, notifies ${tell}`}</p>
        </div>
        <ActionButton
          label={isRunning ? 'Running…' : 'Run now'}
          name={`Run ${name} now`}
          isBusy={isRunning}
          onPress={() => work.run(() => runTaskNow(name))}
        />
      </header>
      <OutsideText look="as-typed">{instruction}</OutsideText>
      <dl class="pairs">
        <dt>Last</dt>
        <dd class={`tone is-${last.state}`}>{last.text}</dd>
        <dt>Next</dt>
        <dd class={`tone is-${next.state}`}>{next.text}</dd>
      </dl>
    </article>
  );
}

/** The last runs, newest first, each with its result, cost and alert. */
function RunList({ runs }: Pick<HeartbeatReport, 'runs'>): VNode {
  return (
    <>
      <h3>Last runs</h3>
      <ol class="rows heartbeat-runs">
        {runs.map(({ id, task, state, text, tokens, alert }) => (
          <li key={id}>
            <b>{task}</b>
            <span class={`tone is-${state}`}>{text}</span>
            <span>{formatAmount(tokens)} tokens</span>
            {alert !== null && (
              <OutsideText as="blockquote" look="said">
                {alert}
              </OutsideText>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

const EXAMPLE = `## mail
- every: 30 min
- between: 9:00-21:00
- do: Check new mail. Tell me what cannot wait.`;

function NoTasks(): VNode {
  return (
    <>
      <p>
        No tasks yet, so the model is not called. Add them to HEARTBEAT.md in the workspace, for
        example:
      </p>
      <OutsideText as="pre" look="layer-text">
        {EXAMPLE}
      </OutsideText>
    </>
  );
}
