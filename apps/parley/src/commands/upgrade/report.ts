import { pluralize } from '@parley/core';
import type { Decision, Finding } from './decide.ts';
import type { Rehearsal } from './rehearse.ts';
import type { ReleaseRun } from './run-release.ts';

/** Formats the result of a rehearsal; together with what happens next it has about ten lines. */
export function formatRehearsal(rehearsal: Rehearsal): readonly string[] {
  const { before, after, decision, recorded } = rehearsal;
  const rows = Object.keys(after.tables).length;
  const played = after.answers.length;
  return [
    `Rehearsed  Parley ${after.version} instead of ${before.version}, on a copy of the data, with simulated platforms and model`,
    `Data       ${pluralize(rows, 'table')} compared after the migration${describe(decision, ['migration', 'data', 'return'])}`,
    `Settings   checked as they are, and by the doctor${describe(decision, ['settings', 'doctor'])}`,
    `Played     ${pluralize(played, 'message')}, of which ${recorded} from the last hour${describe(decision, ['messages', 'privacy'])}`,
    `Prompts    ${findText(decision, ['prompts'])}`,
    `Cases      ${findText(decision, ['cases'])}`,
    `Run        ${describeRun(after.run)}${describe(decision, ['start', 'log', 'stop'])}`,
    `Compared   ${findText(decision, ['speed', 'memory'])}`,
  ];
}

/** Formats the reasons of a refusal, and how to accept what may be intended. */
export function formatRefusal({ findings }: Decision): readonly string[] {
  const reasons = findings.filter(({ level }) => level !== 'note');
  const kinds = [
    ...new Set(reasons.filter(({ level }) => level === 'ask').map(({ kind }) => kind)),
  ];
  const first = reasons[0];
  if (first === undefined) return [];
  const more = reasons.length === 1 ? '' : ` (and ${reasons.length - 1} more above)`;
  const canAccept = reasons.every(({ level }) => level === 'ask');
  return [
    `Refused    ${first.text}${more}. Nothing was changed.`,
    ...(canAccept ? [`If that is intended: add --accept ${kinds.join(',')}`] : []),
  ];
}

function describe(decision: Decision, kinds: readonly Finding['kind'][]): string {
  const found = select(decision, kinds).filter(({ level }) => level !== 'note');
  return found.length === 0 ? ': as before' : `: ${found.map(({ text }) => text).join('; ')}`;
}

function findText(decision: Decision, kinds: readonly Finding['kind'][]): string {
  return (
    select(decision, kinds)
      .map(({ text }) => text)
      .join('; ') || 'not reached'
  );
}

function select({ findings }: Decision, kinds: readonly Finding['kind'][]): readonly Finding[] {
  return findings.filter(({ kind }) => kinds.includes(kind));
}

function describeRun(run: ReleaseRun): string {
  if (run.kind === 'failed') return 'it did not start';
  const { readyMs, stop, log } = run;
  return `ready after ${seconds(readyMs)} s, stopped within ${seconds(stop.tookMs)} s, ${pluralize(log.errors, 'error')} in the log`;
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
