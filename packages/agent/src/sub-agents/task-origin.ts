import { addressesIn, isKnownAddress } from '../tools/known-address.ts';
import type { CallMoment } from '../tools/tool.ts';

/** What a sub-agent is to know of the turn that gave it its task; nobody can be asked later. */
export interface TaskOrigin {
  /** Addresses that a person named, or that a search found and the task holds. */
  readonly named: readonly string[];
  /** That turn held words of outsiders. */
  readonly foreignWords: boolean;
}

/** Addresses that are handed on with one task. */
const MOST = 20;
const LONGEST = 2_000;

/** What the turn that hands a task on knows; the worst where nothing is known of it. */
export function originOfTask(task: string, moment: CallMoment | undefined): TaskOrigin {
  if (moment === undefined) return { named: [], foreignWords: true };
  const found = addressesIn([task]).filter((url) => isKnownAddress(url, moment));
  const named = new Set([...found, ...addressesIn(moment.said)]);
  const some = [...named].filter((address) => address.length <= LONGEST).slice(0, MOST);
  return { named: some, foreignWords: moment.foreignWords };
}

/** The task with a last line that says where it comes from. It is always there, so no task can forge it. */
export function withOrigin(task: string, { named, foreignWords }: TaskOrigin): string {
  const when = foreignWords ? 'after' : 'before';
  const addresses = named.length === 0 ? 'none' : named.join(' ');
  return `${task}\n\n[Given ${when} words of outsiders were read. Addresses that were named or found: ${addresses}]`;
}

const ORIGIN =
  /\n\n\[Given (before|after) words of outsiders were read\. Addresses that were named or found: (\S.*)\]$/;

/** Reads that line; of a task without one nothing good is believed. */
export function originIn(task: string): TaskOrigin {
  const [, when, addresses] = ORIGIN.exec(task) ?? [];
  if (when === undefined || addresses === undefined) return { named: [], foreignWords: true };
  const named = addresses === 'none' ? [] : addresses.split(' ');
  return { named, foreignWords: when === 'after' };
}
