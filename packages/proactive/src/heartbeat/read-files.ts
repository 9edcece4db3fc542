import { decodeText } from '@parley/core';
import type { WorkspaceView } from '@parley/workspace';
import { PROSE_TASK, parseHeartbeatTasks } from './read-tasks.ts';
import { importChecks, readHeartbeatState } from './state.ts';
import { readStateFile } from './state-file.ts';
import { describeSchedule, describeTaskProblem, PROFILE_FILE, TASKS_FILE } from './task.ts';
import { resolveOwnerZone, type SettingsZone } from './time-zone.ts';

type HeartbeatFiles = Pick<WorkspaceView, 'read' | 'readBytes'>;

const WHOLE_FILE = 100_000;

/**
 * Reads HEARTBEAT.md and the owner's time zone. The heartbeat, its reports, `doctor` and the import
 * all use this function.
 */
export async function readHeartbeatFiles(files: HeartbeatFiles, settings: SettingsZone) {
  const [file, profile] = [
    await files.read(TASKS_FILE, WHOLE_FILE),
    await files.read(PROFILE_FILE),
  ];
  const isFile = file.kind === 'file';
  const text = isFile ? file.text : '';
  const { tasks, context, problems } = parseHeartbeatTasks(text, await findFirstLine(files, text));
  const { problem, ...zone } = resolveOwnerZone(
    profile.kind === 'file' ? profile.text : '',
    settings,
    text,
  );
  const unread =
    isFile && file.cut !== null
      ? [
          `${TASKS_FILE}: only the first ${file.cut.shown} of ${file.cut.total} characters are read. Shorten it.`,
        ]
      : [];
  const isFaulty = file.kind === 'absent' && !['missing', 'empty'].includes(file.reason);
  if (isFaulty) unread.push(`${TASKS_FILE} cannot be read: ${file.detail ?? file.reason}.`);
  return {
    ...{ tasks, context, zone },
    /** Whether the file exists. */
    isThere: file.kind === 'file' || file.reason !== 'missing',
    problems: [
      ...problems.map(describeTaskProblem),
      ...unread,
      ...(problem === undefined ? [] : [problem]),
    ],
  };
}

/** Finds the line on which the text starts, below front matter and blank lines. */
async function findFirstLine(files: HeartbeatFiles, text: string): Promise<number> {
  const found = text === '' ? null : await files.readBytes(TASKS_FILE, WHOLE_FILE * 4);
  if (found === null || 'reason' in found) return 1;
  const whole = decodeText(found.bytes).text.replace(/\r\n?/g, '\n');
  return whole.slice(0, Math.max(whole.indexOf(text), 0)).split('\n').length;
}

/**
 * Parses a HEARTBEAT.md and its state as Parley would, for `doctor` and before the file is used
 * (W01).
 */
export async function previewTasks(files: HeartbeatFiles, settings: SettingsZone) {
  const { tasks, problems, ...read } = await readHeartbeatFiles(files, settings);
  const { state, repairs } = readHeartbeatState(await readStateFile(files));
  const { tasks: ran } = importChecks(state, tasks);
  return {
    ...read,
    tasks: tasks.map((task) => ({
      name: task.name,
      schedule: describeSchedule(task),
      lastRun: ran.get(task.name)?.lastRun ?? null,
    })),
    /** True if the whole file is one task, because it does not indicate where tasks end. */
    isWhole: tasks.length === 1 && tasks[0]?.name === PROSE_TASK,
    problems: [...problems, ...repairs],
  };
}
