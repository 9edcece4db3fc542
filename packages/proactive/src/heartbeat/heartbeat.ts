import { createHash } from 'node:crypto';
import { literalLine, reasonOf } from '@parley/core';
import type { HeartbeatOrder, HeartbeatSlot, Store } from '@parley/store';
import { restrictView, type WorkspaceView } from '@parley/workspace';
import type { AlertChat } from '../alert-target.ts';
import { reportFailures } from '../alerts.ts';
import { wallMinute, zoneClock, zoneDayStart } from '../zone-clock.ts';
import { languageInProfile, languageOf, typedTexts } from './language.ts';
import { readHeartbeatFiles } from './read-files.ts';
import { groupText, makeReport, reportText, statusLine } from './report.ts';
import type { HeartbeatAnswer, HeartbeatReport } from './report-shape.ts';
import {
  candidatesFor,
  EXAMPLE_TASK,
  outlookOfTasks,
  runOrder,
  uncheckableProblems,
} from './run.ts';
import type { HeartbeatServices, HeartbeatStatus, Tasks } from './services.ts';
import { lastRunsOf } from './state.ts';
import { openStateFile } from './state-file.ts';
import { HEARTBEAT_READS, OPENCLAW_STATE_FILE, PROFILE_FILE, type StandingTask } from './task.ts';

/** Whether a run started, or why none did. */
type RunOutcome =
  | { readonly kind: 'started'; readonly task: string }
  | { readonly kind: 'skipped'; readonly reason: string };

/** A run that a person requests: of the due task, or of the named one whether it is due or not. */
interface RunRequest {
  readonly id: string;
  readonly task?: string | undefined;
  /** It waits for the run that is not over, where fewer than so many do. */
  readonly room?: number;
}

const MINUTE_MS = 60_000;
const MAX_WAITING = 10;
/** Messages of a chat that show its language. */
const RECENT_MESSAGES = 30;
const STOPPED = {
  busy: 'the run before is not over yet',
  gone: 'another process has this run',
} as const;
const USAGE = 'There is `/heartbeat`, and `/heartbeat now` with or without the name of a task.';
const SWITCH =
  'I cannot switch that from here: `heartbeat.enabled` in my settings file says whether I look after tasks by myself, and holds from the next start on. One task is switched off by moving it into a comment of HEARTBEAT.md.';

/** The heartbeat of one agent (H01–H05): its schedule, its runs, and what it reports. */
export class Heartbeat {
  readonly #deps: HeartbeatServices;
  readonly #view: WorkspaceView;
  readonly #stateFile: ReturnType<typeof openStateFile>;
  #lastProblems = '';

  /** False: it is read from its files, and there are no runs. */
  get isRunning(): boolean {
    return this.#deps.isRunning !== false;
  }

  constructor(deps: HeartbeatServices) {
    this.#deps = deps;
    // The daily notes declare all of memory/.
    const reads = [...HEARTBEAT_READS, OPENCLAW_STATE_FILE];
    this.#view = restrictView(deps.view, { id: 'heartbeat', reads }, deps.log);
    this.#stateFile = openStateFile(this.#view, deps.log);
  }

  /** Releases held alerts, starts the run that is due, and returns when to look again (ms). */
  async runDue(): Promise<number | null> {
    const { store, agent, settings, clock, deliver } = this.#deps;
    for (const route of await store.heartbeats.release(clock())) await deliver(route);
    const heldUntil = await store.heartbeats.nextRelease();
    if (!settings.enabled) return heldUntil;
    const everyMs = settings.everyMinutes * MINUTE_MS;
    const { nextAt: dueAt } = await store.heartbeats.arm(agent.id, everyMs, clock());
    if (dueAt > clock()) return Math.min(dueAt, heldUntil ?? dueAt);
    // Heartbeats missed while the machine slept are one run, and the schedule stays.
    const nextAt = dueAt + Math.ceil((clock() + 1 - dueAt) / everyMs) * everyMs;
    // Before the next run starts, which may end differently; a failed notice delays no run.
    await this.#notifyOfFailures();
    await this.#run({ agent: agent.id, dueAt, nextAt });
    return Math.min(nextAt, heldUntil ?? nextAt);
  }

  async #notifyOfFailures(): Promise<void> {
    const { notify, ...deps } = this.#deps;
    try {
      if (notify !== undefined) await reportFailures({ ...deps, notify });
    } catch (error) {
      const facts = { agent: deps.agent.id, reason: reasonOf(error) };
      deps.log.warn(facts, 'the owner could not be notified that heartbeats fail');
    }
  }

  /** A run on request: of the due task, or of the named one. */
  now(id: string, task?: string): Promise<RunOutcome> {
    return this.#run(null, { id, task });
  }

  /** The same, once for each id; it waits for a run that is not over (H09). Null: too many wait. */
  async wake(id: string, task?: string): Promise<RunOutcome | null> {
    const known = await this.#deps.store.heartbeats.of(id);
    if (known !== null) return { kind: 'started', task: known.task };
    const outcome = await this.#run(null, { id, task, room: MAX_WAITING });
    return outcome.kind === 'skipped' && outcome.reason === STOPPED.busy ? null : outcome;
  }

  /** The same, once for each message, with the outcome as text. */
  async request(messageId: string, wanted?: string): Promise<HeartbeatAnswer> {
    const id = `asked:${messageId}`;
    const outcome =
      (await this.#deps.store.heartbeats.of(id)) ?? (await this.#run(null, { id, task: wanted }));
    if ('task' in outcome) {
      const { task } = outcome;
      const text = `${task} begins. You get a message only if there is something to report; /heartbeat shows the outcome.`;
      return { task, text };
    }
    const first = wanted === undefined ? (await this.#read()).tasks.at(0) : undefined;
    const all = first === undefined ? '' : ` "/heartbeat now ${first.name}" runs it all the same.`;
    return { task: null, text: `Nothing began: ${outcome.reason}.${all}` };
  }

  async status(): Promise<HeartbeatStatus> {
    const { store, agent } = this.#deps;
    const { tasks, at, ...read } = await this.#read();
    return {
      ...read,
      plan: await store.heartbeats.plan(agent.id),
      tasks: outlookOfTasks(tasks, lastRunsOf(read.state), at),
      tokensToday: await tokensToday(this.#deps),
    };
  }

  /** The time zone of the owner's hours. */
  async timeZone(): Promise<string> {
    return (await readHeartbeatFiles(this.#view, this.#deps.agent)).zone.timeZone;
  }

  async report(): Promise<HeartbeatReport> {
    return makeReport(this.#deps, await this.status());
  }

  /** For `/status`. */
  async line(): Promise<string> {
    return statusLine(this.#deps, await this.status());
  }

  /** Answers `/heartbeat` of an owner, in Markdown. Idempotent per message. */
  async answer(
    { isGroup, messageId }: { readonly isGroup: boolean; readonly messageId: string },
    argument: string,
  ): Promise<string> {
    const [, verb = '', name = ''] = /^(\S*)\s*(.*)$/s.exec(argument.trim()) ?? [];
    switch (verb.toLowerCase()) {
      case '':
        return isGroup ? groupText(await this.report()) : reportText(await this.report());
      case 'now': {
        const { task, text } = await this.request(messageId, name === '' ? undefined : name);
        if (!isGroup) return literalLine(text);
        return task === null
          ? 'Nothing began; ask me in a direct chat why.'
          : 'It begins; the result goes to its own chat.';
      }
      case 'on':
      case 'off':
        return SWITCH;
      default:
        return `I do not understand that. ${USAGE}`;
    }
  }

  async #read(): Promise<Tasks> {
    const { store, agent, clock, checkForNews, log } = this.#deps;
    const { tasks, ...found } = await readHeartbeatFiles(this.#view, agent);
    const problems = [
      ...found.problems,
      ...tasks.flatMap((task) => uncheckableProblems(task, checkForNews)),
    ];
    if (problems.length > 0 && problems.join() !== this.#lastProblems) {
      log.warn({ problems }, 'HEARTBEAT.md is not all understood');
    }
    this.#lastProblems = problems.join();
    const state = await this.#stateFile.read(await store.heartbeats.lastRuns(agent.id), tasks);
    const at = { now: clock(), clock: zoneClock(found.zone.timeZone) };
    return { ...found, tasks, problems, state, at };
  }

  /** Starts the run of at most one task, the most overdue one that can run (H02). */
  async #run(slot: HeartbeatSlot | null, request?: RunRequest): Promise<RunOutcome> {
    const { store, agent, clock, log } = this.#deps;
    const outcome = await this.#start(await this.#read(), slot, request);
    if (outcome.kind === 'skipped' && slot !== null) {
      await store.heartbeats.skip(slot, outcome.reason, clock());
    }
    log.debug({ agent: agent.id, ...outcome }, 'heartbeat run');
    return outcome;
  }

  async #start(read: Tasks, slot: HeartbeatSlot | null, request?: RunRequest): Promise<RunOutcome> {
    const { store, agent, settings, clock, findTarget, wake } = this.#deps;
    const skipped = (reason: string): RunOutcome => ({ kind: 'skipped', reason });
    const { candidates, reason } = candidatesFor(read, settings.everyMinutes, request?.task);
    if (candidates.length > 0 && (await tokensToday(this.#deps)) >= settings.tokensPerDay) {
      return skipped(`the ${settings.tokensPerDay} tokens of today are used up`);
    }
    let { state } = read;
    let why = reason;
    for (const task of candidates) {
      const target = await findTarget(task);
      if (target.kind === 'none') {
        why = target.reason;
        continue;
      }
      const { more = {} } = state.tasks.get(task.name) ?? {};
      const checked = await this.#checkedHash(task);
      // The moment that the state file is given too: a later one would be taken for a run that it missed.
      const now = clock();
      // A task that a person requests by name runs anyway.
      if (checked !== null && checked === more.checked && request?.task === undefined) {
        state = await this.#stateFile.started(state, task, now);
        why = `${task.name}: nothing is new`;
        continue;
      }
      const id = request?.id ?? runId(agent.id, slot?.dueAt ?? now);
      const order = await this.#orderOf(task, target, { ...read, state }, { id, now });
      const started = await store.heartbeats.start(order, slot, now, request?.room);
      if (started !== 'started') return skipped(STOPPED[started]);
      await wake(order.message.conversationId);
      await this.#stateFile.started(state, task, now, checked === null ? {} : { checked });
      return { kind: 'started', task: task.name };
    }
    return skipped(why);
  }

  async #orderOf(
    task: StandingTask,
    target: AlertChat,
    { state, context, zone: { timeZone } }: Tasks,
    { id, now }: { readonly id: string; readonly now: number },
  ): Promise<HeartbeatOrder> {
    const { id: agent, name: agentName } = this.#deps.agent;
    const { lastRun = null } = state.tasks.get(task.name) ?? {};
    const last = lastRun === null ? 'never' : wallMinute(lastRun, timeZone);
    const language = await this.languageOf(target);
    return runOrder(task, target, { id, agent, agentName, lastRun: last, language, context, now });
  }

  /** As USER.md says where the owner is the reader, else that of what was written there lately (H10). */
  async languageOf({ route, isOwners }: AlertChat): Promise<string | undefined> {
    const file = isOwners ? await this.#view.read(PROFILE_FILE) : null;
    const said = file?.kind === 'file' ? languageInProfile(file.text) : undefined;
    if (said !== undefined) return said;
    const rows = await this.#deps.store.inbox.recent(route, RECENT_MESSAGES);
    return languageOf(typedTexts(rows.map(({ message }) => message)));
  }

  /**
   * The next run as it would start now (H10): of the due task, else of the first that asks a model, else
   * of an example. `choose` decides on the chat; it gets the one that the run would have, if any.
   */
  async preview(choose: (found: AlertChat | null) => AlertChat): Promise<HeartbeatOrder> {
    const { store, agent, settings, clock, findTarget } = this.#deps;
    const read = await this.#read();
    const { candidates } = candidatesFor(read, settings.everyMinutes, undefined);
    const task =
      [...candidates, ...read.tasks].find(({ routine }) => routine === undefined) ?? EXAMPLE_TASK;
    const found = await findTarget(task);
    const plan = await store.heartbeats.plan(agent.id);
    const now = clock();
    const id = runId(agent.id, plan?.nextAt ?? now);
    const target = choose(found.kind === 'chat' ? found : null);
    return this.#orderOf(task, target, read, { id, now });
  }

  /**
   * A hash of the result of a task's check; the state file keeps it in place of the result. Null for a
   * check that is not made or fails, which counts as new: the model finds out why.
   */
  async #checkedHash({ name, check }: StandingTask): Promise<string | null> {
    const { checkForNews, log } = this.#deps;
    if (check === undefined || checkForNews === undefined) return null;
    if (checkForNews.whyNot(check) !== null) return null;
    try {
      const seen = await checkForNews.look(check);
      return createHash('sha256').update(seen).digest('hex').slice(0, 16);
    } catch (error) {
      log.warn({ task: name, reason: reasonOf(error) }, 'the check of a standing task failed');
      return null;
    }
  }
}

/** Derived from the slot: another process with the same slot cannot start a second run. */
function runId(agent: string, dueAt: number): string {
  return `beat_${agent}_${dueAt}`;
}

/** The tokens of all runs since midnight in the agent’s time zone (H05). */
export function tokensToday({
  store,
  agent,
  clock,
}: Pick<HeartbeatServices, 'agent' | 'clock'> & {
  readonly store: Pick<Store, 'heartbeats'>;
}): Promise<number> {
  return store.heartbeats.tokensSince(agent.id, zoneDayStart(clock(), agent.timeZone));
}
