import type { Simulation } from '../simulation.ts';
import type { MakeInvariant } from './invariant.ts';

/** Heartbeat tasks and their intervals, in minutes. */
export const TASKS = { alpha: 5, beta: 10 } as const;

interface MessageRow {
  readonly seq: number;
  readonly id: string;
  readonly text: string;
  readonly outcome: string | null;
}

/** A job starts once for each scheduled time, and reports each start once (H08). */
export const jobsOnce: MakeInvariant = () => {
  const told = createReportCounter(/(?<=Done: )job\d+x\b/g);
  return {
    id: 'H08',
    afterChange: (simulation) => {
      const fired = listMessages(simulation, 'cron:%');
      const times = fired.map(({ id }) => id.split(':').slice(0, 3).join(':'));
      return [
        ...findDuplicates(times).map((time) => `a job was started twice for its time ${time}`),
        ...findRepeatedJobs(simulation, fired),
      ];
    },
    afterStep: (step, simulation) => {
      told.note(step.changes, simulation);
      const starts = new Map<string, number>();
      for (const { text } of listMessages(simulation, 'cron:%')) {
        const [job = ''] = text.match(/\bjob\d+x\b/) ?? [];
        starts.set(job, (starts.get(job) ?? 0) + 1);
      }
      return [...told.parts]
        .filter(([job, parts]) => parts.size > (starts.get(job) ?? 0))
        .map(
          ([job, parts]) =>
            `${job} was reported ${parts.size} times, and started ${starts.get(job) ?? 0} times`,
        );
    },
    atEnd: (simulation) =>
      listMessages(simulation, 'cron:%')
        .flatMap(({ text }) => text.match(/\bjob\d+x\b/) ?? [])
        .filter((job) => !told.parts.has(job) && !hasDied(simulation))
        .map((job) => `${job} was started, but never reported`),
  };
};

/** A one-off job starts again only after a run that failed. */
function findRepeatedJobs(
  { observer }: Simulation,
  fired: readonly MessageRow[],
): readonly string[] {
  const jobs = observer.rows<{ readonly id: string }>(
    "select id from cron_job where timetable like '%once%'",
  );
  return jobs.flatMap(({ id }) => {
    const starts = fired.filter((message) => message.id.startsWith(`cron:${id}:`));
    return starts
      .slice(0, -1)
      .filter(({ outcome }) => outcome !== 'failed')
      .map(({ text, outcome }) => `"${text}" was ${outcome} and started again`);
  });
}

/**
 * A heartbeat starts at most one run, no task runs more often than its interval allows, and each
 * alert is sent once (H01, H02, H04).
 */
export const alertsOnce: MakeInvariant = () => {
  const told = createReportCounter(/\balert\d+x\b/g);
  let nextAt: number | undefined;
  let beats = 0;
  return {
    id: 'H01',
    afterChange: ({ observer }) => {
      const [plan] = observer.rows<{ readonly nextAt: number }>(
        'select next_at as nextAt from heartbeat',
      );
      if (nextAt !== undefined && plan?.nextAt !== nextAt) beats += 1;
      nextAt = plan?.nextAt;
      const runs = observer.rows<{ readonly task: keyof typeof TASKS; readonly at: number }>(
        'select task, started_at as at from heartbeat_run order by task, started_at',
      );
      const often = runs.flatMap(({ task, at }, index) => {
        const before = runs[index - 1];
        if (before?.task !== task) return [];
        // A task that is nearly due runs with the current heartbeat, so that it does not miss a
        // heartbeat of the same interval.
        const shortest = (TASKS[task] - 5 / 4) * 60_000;
        const passed = at - before.at;
        return passed < shortest ? [`${task} ran again after ${Math.round(passed / 1_000)} s`] : [];
      });
      return runs.length > beats
        ? [...often, `${runs.length} runs were started within ${beats} beats`]
        : often;
    },
    afterStep: ({ changes }, simulation) => {
      told.note(changes, simulation);
      return [...told.parts]
        .filter(([, parts]) => parts.size > 1)
        .map(([alert, parts]) => `${alert} was sent ${parts.size} times`);
    },
    atEnd: ({ observer }) => {
      const running = observer.rows("select id from heartbeat_run where state = 'running'");
      const alerted = observer.rows("select id from heartbeat_run where state = 'alerted'");
      return [
        ...(running.length > 0 ? ['a run of the heartbeat is not over'] : []),
        ...(told.parts.size > alerted.length
          ? [`${told.parts.size} alerts were sent, but ${alerted.length} runs alerted`]
          : []),
      ];
    },
  };
};

/** The result of a sub-agent reaches the conversation that delegated the task, once (G07). */
export const subAgentsOnce: MakeInvariant = () => {
  const told = createReportCounter(/\bf\d+\b/g);
  return {
    id: 'G07',
    afterStep: ({ changes }, simulation) => {
      told.note(changes, simulation);
      return [...told.parts]
        .filter(([, parts]) => parts.size > 1)
        .map(([found, parts]) => `${found} was reported ${parts.size} times`);
    },
    afterChange: ({ observer }) => {
      const calls = observer.rows<{ readonly task: string }>('select task from sub_agent');
      const tasks = calls.map(({ task }) => /Find s\d+/.exec(task)?.[0] ?? '');
      return findDuplicates(tasks).map((task) => `two sub-agents have the task "${task}"`);
    },
    atEnd: (simulation) => {
      const runs = simulation.observer.rows<{ readonly state: string; readonly task: string }>(
        'select state, task from sub_agent',
      );
      return runs.flatMap(({ state, task }) => {
        const [, number] = /Find s(\d+)/.exec(task) ?? [];
        if (state === 'running') return [`the sub-agent for s${number} is still running`];
        const isLost = state === 'done' && !told.parts.has(`f${number}`);
        return isLost && !hasDied(simulation) ? [`f${number} was found but never reported`] : [];
      });
    },
  };
};

/** Counts the parts in which a pattern was shown. */
function createReportCounter(pattern: RegExp) {
  const parts = new Map<string, Set<string>>();
  return {
    parts,
    note(
      changes: readonly { readonly kind: string; readonly part?: string }[],
      simulation: Simulation,
    ) {
      for (const { kind, part } of changes) {
        if (kind !== 'sent' || part === undefined) continue;
        for (const word of simulation.shownPart(part)?.text.match(pattern) ?? []) {
          parts.set(word, (parts.get(word) ?? new Set()).add(part));
        }
      }
    },
  };
}

function listMessages({ observer }: Simulation, like: string): readonly MessageRow[] {
  return observer.rows<MessageRow>(
    `select seq, message_id as id, message ->> '$.text' as text, outcome from inbox
     where message_id like ? order by seq`,
    like,
  );
}

function findDuplicates(list: readonly string[]): readonly string[] {
  return list.filter((one, at) => list.indexOf(one) !== at);
}

/** A turn that was given up loses its report, and its chat is notified. */
function hasDied({ observer }: Simulation): boolean {
  return observer.tables.deadLetters.size > 0;
}
