import { writtenOut } from '@parley/agent';
import type { Approval } from '@parley/store';

const STATES: Readonly<Record<Approval['state'], string>> = {
  pending: 'waits',
  approved: 'allowed',
  denied: 'refused',
  expired: 'nobody answered',
  withdrawn: 'stopped',
  auto: 'allowed by the settings',
};

/** The record of questions for people, oldest first: when, what, for whom, who decided, what came of it. */
export function approvalsText(newestFirst: readonly Approval[]): string {
  if (newestFirst.length === 0) return 'Nobody has been asked for an approval yet.';
  return [...newestFirst].reverse().map(entry).join('\n');
}

function entry(approval: Approval): string {
  const { askedAt, code, tool, shown, askedBy, place, state, decidedBy, decidedAt } = approval;
  const by = decidedBy === null ? '' : ` by ${decidedBy}`;
  const at = decidedAt === null ? '' : ` at ${time(decidedAt)}`;
  // Ids and names come from outside, and a terminal obeys what it prints.
  const head = writtenOut(
    `${time(askedAt)}  ${code}  ${tool} for ${askedBy} (${place}): ${STATES[state]}${by}${at}${ending(approval)}`,
  );
  return [head, ...shown.split('\n').map((line) => `    ${line}`)].join('\n');
}

/** How long it is waited for, whoever else may decide, or what came of the call. */
function ending({ state, expiresAt, approvers, result }: Approval): string {
  switch (state) {
    case 'pending':
      return ` until ${time(expiresAt)} for an owner${approvers.map((one) => ` or ${one}`).join('')}`;
    case 'approved':
    case 'auto':
      if (result === 'done') return '; the call worked';
      // What was cut off in the middle is no success either, and nobody knows more.
      if (result === 'failed') return '; the call failed or was cut off';
      return '; of an end of the call nothing is known yet';
    case 'denied':
    case 'expired':
    case 'withdrawn':
      return '; the call was not run';
  }
}

/** `2026-11-21 14:05:09Z`. */
function time(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z');
}
