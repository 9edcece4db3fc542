import type { BeatRoutine } from '@parley/contracts';
import type { DayWindow } from '../clock/day-window.ts';

/**
 * How often a task is due: so many minutes after it last ran, or once on every so-many-th day within
 * its hours.
 */
export type Cadence =
  | { readonly kind: 'minutes'; readonly minutes: number }
  | { readonly kind: 'days'; readonly days: number };

/** Minutes that must lie between two runs of a task (H01). */
export const FLOOR_MINUTES = 5;

/** What is looked at before the model is asked: is it as it was the last time, nothing is new. */
export type PreCheck =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'command'; readonly command: string };

/** A task of HEARTBEAT.md (H02). */
export interface StandingTask {
  /** Unique in the file; the key in heartbeat-state.json. */
  readonly name: string;
  /** Where it stands in the file, from 1. */
  readonly line: number;
  readonly cadence: Cadence;
  /** The hours of the day in which it may run. */
  readonly window: DayWindow;
  readonly instruction: string;
  /** Built-in work in place of the instruction, which then only names it (H07). */
  readonly routine?: BeatRoutine;
  /** The group that it names for its alerts; without one they go to the owner (H04). */
  readonly tell?: string;
  readonly check?: PreCheck;
}

/** The cadence in minutes, as heartbeat-state.json says it. */
export function cadenceMinutes(cadence: Cadence): number {
  return cadence.kind === 'minutes' ? cadence.minutes : cadence.days * 24 * 60;
}
