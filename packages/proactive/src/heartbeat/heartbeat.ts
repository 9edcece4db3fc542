import { createHash } from 'node:crypto';
import { detectLanguageName, reasonOf, toLiteralLine } from '@parley/core';
import type { HeartbeatRunRequest, HeartbeatSlot, Store } from '@parley/store';
import { restrictView, type WorkspaceView } from '@parley/workspace';
import type { AlertChat } from '../alert-target.ts';
import { reportFailures } from '../alerts.ts';
import { createZoneClock, findZoneDayStart, formatWallMinute } from '../zone-clock.ts';
import { findProfileLanguage, listTypedTexts } from './language.ts';
import { readHeartbeatFiles } from './read-files.ts';
import { createReport, formatGroupReport, formatReport, formatStatusLine } from './report.ts';
import type { HeartbeatAnswer, HeartbeatReport } from './report-shape.ts';
import {
  createTaskRunRequest,
  EXAMPLE_TASK,
  listCandidates,
  listTaskOutlooks,
  listUnsupportedChecks,
} from './run.ts';
import type { HeartbeatServices, HeartbeatStatus, TasksWithState } from './services.ts';
import { listLastRuns } from './state.ts';
import { openStateFile } from './state-file.ts';
import { HEARTBEAT_READS, OPENCLAW_STATE_FILE, PROFILE_FILE, type StandingTask } from './task.ts';

/** Whether a run started, or why it did not. */
type RunOutcome =
  | { readonly kind: 'started'; readonly task: string }
  | { readonly kind: 'skipped'; readonly reason: string };

/** A run requested by a person: of the due task, or of a named task even if it is not due. */
interface RunRequest {
  readonly id: string;
  readonly task?: string | undefined;
  /** Makes the run wait for a run in progress, as long as fewer than this many runs are waiting. */
  readonly room?: number;
}

const MINUTE_MS = 60_000;
const MAX_WAITING = 10;
/** How many messages in a chat are examined to detect its language. */
const RECENT_MESSAGES = 30;
const STOPPED = {
  busy: 'the previous run has not finished yet',
  gone: 'another process is handling this run',
} as const;
const USAGE = 'Use `/heartbeat`, or `/heartbeat now` with or without the name of a task.';
const SWITCH =
  'I can’t switch that from here: `heartbeat.enabled` in my settings file decides whether I look after tasks by myself, and takes effect at the next start. To switch off one task, move it into a comment in HEARTBEAT.md.';

/** The heartbeat of an agent (H01–H05): its schedule, its runs, and its reports. */
export class Heartbeat {
  readonly #deps: HeartbeatServices;
  readonly #view: WorkspaceView;
  readonly #stateFile: ReturnType<typeof openStateFile>;
  #lastProblems = '';

  /** False if this process only reads the state from files and does not run tasks. */
  get isRunning(): boolean {
    return this.#deps.isRunning !== false;
  }

  constructor(deps: HeartbeatServices) {
    this.#deps = deps;
    // The right to read daily notes covers the memory/ folder, and therefore also the state file.
    const reads = [...HEARTBEAT_READS, OPENCLAW_STATE_FILE];
    this.#view = restrictView(deps.view, { id: 'heartbeat', reads }, deps.log);
    this.#stateFile = openStateFile(this.#view, deps.log);
  }

  /** Releases held alerts and starts the due run. Returns the time of the next poll (ms). */
  async runDue(): Promise<number | null> {
    const { store, agent, settings, clock, deliver } = this.#deps;
    for (const route of await store.heartbeats.release(clock())) await deliver(route);
    const heldUntil = await store.heartbeats.nextRelease();
    if (!settings.enabled) return heldUntil;
    const everyMs = settings.everyMinutes * MINUTE_MS;
    const { nextAt: dueAt } = await store.heartbeats.arm(agent.id, everyMs, clock());
    if (dueAt > clock()) return Math.min(dueAt, heldUntil ?? dueAt);
    // Heartbeats that were missed while the machine slept are merged into one run, and the schedule
    // does not change.
    const nextAt = dueAt + Math.ceil((clock() + 1 - dueAt) / everyMs) * everyMs;
    // The notice is sent before the next run, whose outcome may differ. A notice that cannot be
    // sent does not delay the run.
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

  /** Runs a task on request: the due task, or the named one. */
  now(id: string, task?: string): Promise<RunOutcome> {
    return this.#run(null, { id, task });
  }

  /**
   * Runs a task once per id, after any run in progress (H09). Returns null if too many runs are
   * waiting.
   */
  async wake(id: string, task?: string): Promise<RunOutcome | null> {
    const known = await this.#deps.store.heartbeats.of(id);
    if (known !== null) return { kind: 'started', task: known.task };
    const outcome = await this.#run(null, { id, task, room: MAX_WAITING });
    return outcome.kind === 'skipped' && outcome.reason === STOPPED.busy ? null : outcome;
  }

  /** Runs a task once per message, and returns the outcome as text. */
  async request(messageId: string, wanted?: string): Promise<HeartbeatAnswer> {
    const id = `asked:${messageId}`;
    const outcome =
      (await this.#deps.store.heartbeats.of(id)) ?? (await this.#run(null, { id, task: wanted }));
    if ('task' in outcome) {
      const { task } = outcome;
      const text = `${task} is starting. You’ll get a message only if there is something to report; /heartbeat shows the outcome.`;
      return { task, text };
    }
    const first = wanted === undefined ? (await this.#read()).tasks.at(0) : undefined;
    const all = first === undefined ? '' : ` "/heartbeat now ${first.name}" runs it anyway.`;
    return { task: null, text: `Nothing started: ${outcome.reason}.${all}` };
  }

  async status(): Promise<HeartbeatStatus> {
    const { store, agent } = this.#deps;
    const { tasks, at, ...read } = await this.#read();
    return {
      ...read,
      plan: await store.heartbeats.plan(agent.id),
      tasks: listTaskOutlooks(tasks, listLastRuns(read.state), at),
      tokensToday: await countTokensToday(this.#deps),
    };
  }

  /** Returns the time zone that applies to the tasks' hours. */
  async timeZone(): Promise<string> {
    return (await readHeartbeatFiles(this.#view, this.#deps.agent)).zone.timeZone;
  }

  async report(): Promise<HeartbeatReport> {
    return createReport(this.#deps, await this.status());
  }

  async line(): Promise<string> {
    return formatStatusLine(this.#deps, await this.status());
  }

  /** Answers an owner's `/heartbeat` command, in Markdown. The command runs once per message. */
  async answer(
    { isGroup, messageId }: { readonly isGroup: boolean; readonly messageId: string },
    argument: string,
  ): Promise<string> {
    const [, verb = '', name = ''] = /^(\S*)\s*(.*)$/s.exec(argument.trim()) ?? [];
    switch (verb.toLowerCase()) {
      case '':
        return isGroup ? formatGroupReport(await this.report()) : formatReport(await this.report());
      case 'now': {
        const { task, text } = await this.request(messageId, name === '' ? undefined : name);
        if (!isGroup) return toLiteralLine(text);
        return task === null
          ? 'Nothing was started. Ask me why in a direct chat.'
          : 'The run is starting. Its result goes to the chat for its alerts.';
      }
      case 'on':
      case 'off':
        return SWITCH;
      default:
        return `I don’t understand that. ${USAGE}`;
    }
  }

  async #read(): Promise<TasksWithState> {
    const { store, agent, clock, checkForNews, log } = this.#deps;
    const { tasks, ...found } = await readHeartbeatFiles(this.#view, agent);
    const problems = [
      ...found.problems,
      ...tasks.flatMap((task) => listUnsupportedChecks(task, checkForNews)),
    ];
    if (problems.length > 0 && problems.join() !== this.#lastProblems) {
      log.warn({ problems }, 'parts of HEARTBEAT.md were not understood');
    }
    this.#lastProblems = problems.join();
    const state = await this.#stateFile.read(await store.heartbeats.lastRuns(agent.id), tasks);
    const at = { now: clock(), clock: createZoneClock(found.zone.timeZone) };
    return { ...found, tasks, problems, state, at };
  }

  /** Starts a run of at most one task, the most overdue one that can run (H02). */
  async #run(slot: HeartbeatSlot | null, request?: RunRequest): Promise<RunOutcome> {
    const { store, agent, clock, log } = this.#deps;
    const outcome = await this.#start(await this.#read(), slot, request);
    if (outcome.kind === 'skipped' && slot !== null) {
      await store.heartbeats.skip(slot, outcome.reason, clock());
    }
    log.debug({ agent: agent.id, ...outcome }, 'heartbeat run');
    return outcome;
  }

  async #start(
    read: TasksWithState,
    slot: HeartbeatSlot | null,
    request?: RunRequest,
  ): Promise<RunOutcome> {
    const { store, agent, settings, clock, findTarget, wake } = this.#deps;
    const skipped = (reason: string): RunOutcome => ({ kind: 'skipped', reason });
    const { candidates, reason } = listCandidates(read, settings.everyMinutes, request?.task);
    if (candidates.length > 0 && (await countTokensToday(this.#deps)) >= settings.tokensPerDay) {
      return skipped(`today's ${settings.tokensPerDay} tokens are used up`);
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
      // The state file contains the same time; a later time would look like a run that is missing
      // from the database.
      const now = clock();
      // A task that a person requests by name runs in any case.
      if (checked !== null && checked === more.checked && request?.task === undefined) {
        state = await this.#stateFile.started(state, task, now);
        why = `${task.name}: there is nothing new`;
        continue;
      }
      const id = request?.id ?? toRunId(agent.id, slot?.dueAt ?? now);
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
    { state, context, zone: { timeZone } }: TasksWithState,
    { id, now }: { readonly id: string; readonly now: number },
  ): Promise<HeartbeatRunRequest> {
    const { id: agent, name: agentName } = this.#deps.agent;
    const { lastRun = null } = state.tasks.get(task.name) ?? {};
    const last = lastRun === null ? 'never' : formatWallMinute(lastRun, timeZone);
    const language = await this.languageOf(target);
    return createTaskRunRequest(task, target, {
      id,
      agent,
      agentName,
      lastRun: last,
      language,
      context,
      now,
    });
  }

  /**
   * Returns the language from USER.md if the owner is the reader, or else the language of recent
   * messages in the chat (H10).
   */
  async languageOf({ route, isOwners }: AlertChat): Promise<string | undefined> {
    const file = isOwners ? await this.#view.read(PROFILE_FILE) : null;
    const said = file?.kind === 'file' ? findProfileLanguage(file.text) : undefined;
    if (said !== undefined) return said;
    const rows = await this.#deps.store.inbox.recent(route, RECENT_MESSAGES);
    return detectLanguageName(listTypedTexts(rows.map(({ message }) => message)));
  }

  /**
   * Builds the next run as it would start now (H10): with the due task, or else the first task that
   * uses a model, or else an example. `choose` selects the chat; it receives the chat that the run
   * would use, if any.
   */
  async preview(choose: (found: AlertChat | null) => AlertChat): Promise<HeartbeatRunRequest> {
    const { store, agent, settings, clock, findTarget } = this.#deps;
    const read = await this.#read();
    const { candidates } = listCandidates(read, settings.everyMinutes, undefined);
    const task =
      [...candidates, ...read.tasks].find(({ routine }) => routine === undefined) ?? EXAMPLE_TASK;
    const found = await findTarget(task);
    const plan = await store.heartbeats.plan(agent.id);
    const now = clock();
    const id = toRunId(agent.id, plan?.nextAt ?? now);
    const target = choose(found.kind === 'chat' ? found : null);
    return this.#orderOf(task, target, read, { id, now });
  }

  /**
   * Returns a hash of the result of a task's check, which the state file stores instead of the
   * result. Returns null for a check that does not run or fails; this counts as a change, so that
   * the model investigates the cause.
   */
  async #checkedHash({ name, check }: StandingTask): Promise<string | null> {
    const { checkForNews, log } = this.#deps;
    if (check === undefined || checkForNews === undefined) return null;
    if (checkForNews.whyNot(check) !== null) return null;
    try {
      const seen = await checkForNews.look(check);
      return createHash('sha256').update(seen).digest('hex').slice(0, 16);
    } catch (error) {
      log.warn({ task: name, reason: reasonOf(error) }, "a standing task's check failed");
      return null;
    }
  }
}

/**
 * The id is derived from the slot, so that another process with the same slot cannot start the run
 * again.
 */
function toRunId(agent: string, dueAt: number): string {
  return `beat_${agent}_${dueAt}`;
}

/** Returns the tokens of all runs since midnight in the agent’s time zone (H05). */
export function countTokensToday({
  store,
  agent,
  clock,
}: Pick<HeartbeatServices, 'agent' | 'clock'> & {
  readonly store: Pick<Store, 'heartbeats'>;
}): Promise<number> {
  return store.heartbeats.tokensSince(agent.id, findZoneDayStart(clock(), agent.timeZone));
}
