import { zoneClock } from '../clock/zone-clock.ts';
import type { Heartbeat } from '../heartbeat/heartbeat.ts';
import { answerText, groupText, reportText, statusLine } from './desk-text.ts';
import type { HeartbeatAnswer, HeartbeatReport } from './heartbeat-report.ts';
import { makeReport, type ReportDeps } from './make-report.ts';
import { momentWords } from './moment-words.ts';

/** Who uses `/heartbeat`; only owners get as far as this. */
export interface HeartbeatAsker {
  readonly isGroup: boolean;
  /** No other message has it, of whatever chat. */
  readonly messageId: string;
}

/** What people see of the heartbeat and may ask of it. */
export interface HeartbeatDesk {
  /** Answers `/heartbeat`, in Markdown. Told twice of the same message, it does nothing more. */
  answer(asker: HeartbeatAsker, argument: string): Promise<string>;
  /** For `/status`, in one line. */
  line(): Promise<string>;
  report(): Promise<HeartbeatReport>;
  /** Runs a task at once: the named one, or the one that is due. Asked twice with one id it runs once. */
  now(id: string, task?: string): Promise<HeartbeatAnswer>;
}

/** What the desk works with. */
export interface HeartbeatDeskDeps extends Omit<ReportDeps, 'isRunning'> {
  readonly heartbeat: Heartbeat;
}

const USAGE = 'There is `/heartbeat`, and `/heartbeat now` with or without the name of a task.';
const SWITCH =
  'I cannot switch that from here: `heartbeat.enabled` in my settings file says whether I look after tasks by myself, and holds from the next start on. One task is switched off by moving it into a comment of HEARTBEAT.md.';

/** Makes the desk of a running heartbeat. */
export function heartbeatDesk(deps: HeartbeatDeskDeps): HeartbeatDesk {
  const report = () => makeReport({ ...deps, isRunning: true });
  const now = (id: string, task?: string) => runNow(deps, report, `asked:${id}`, task);
  return {
    report,
    now,
    async answer({ isGroup, messageId }, argument) {
      const [, verb = '', name = ''] = /^(\S*)\s*(.*)$/s.exec(argument.trim()) ?? [];
      switch (verb.toLowerCase()) {
        case '':
          return isGroup ? groupText(await report()) : reportText(await report());
        case 'now':
          return answerText(await now(messageId, name === '' ? undefined : name), isGroup);
        case 'on':
        case 'off':
          return SWITCH;
        default:
          return `I do not understand that. ${USAGE}`;
      }
    },
    async line() {
      const { plan, tasks, problems } = await deps.heartbeat.status();
      const moment = deps.clock();
      const clock = zoneClock(deps.agent.timeZone);
      const nextAt = Math.max(plan?.nextAt ?? moment, moment);
      const next = deps.settings.enabled ? momentWords(nextAt, clock, moment) : null;
      return statusLine(next, tasks.length, problems.length);
    },
  };
}

async function runNow(
  { heartbeat, store }: HeartbeatDeskDeps,
  report: () => Promise<HeartbeatReport>,
  id: string,
  wanted?: string,
): Promise<HeartbeatAnswer> {
  const known = await store.heartbeats.of(id);
  if (known !== null) return begun(known.task);
  const outcome = await heartbeat.now(id, wanted);
  if (outcome.kind === 'begun') return begun(outcome.task);
  const { reason } = outcome;
  const isNamed = wanted !== undefined;
  const first = isNamed ? undefined : (await report()).tasks.at(0);
  const all = first === undefined ? '' : ` "/heartbeat now ${first.name}" runs it all the same.`;
  return { task: null, words: `Nothing began: ${reason}.${all}` };
}

function begun(task: string): HeartbeatAnswer {
  const words = `${task} begins. You hear of it only if there is something to tell; /heartbeat says what came of it.`;
  return { task, words };
}
