import { z } from 'zod';
import { ParleyError, reasonOf } from './errors.ts';
import type { CronAnswer } from './proactive.ts';
import type { Logger } from './runtime.ts';

/** The roles of people on the page and the API, from the least to the most powerful. */
export const ROLES = ['viewer', 'operator', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** Whether `role` may do everything that `least` may do. */
export function isRoleAtLeast(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/** The caller of an operation. */
export interface Caller {
  /** For records: the name of a sign-in, `the console` or `the command line`. */
  readonly name: string;
  readonly role: Role;
  /** The name of a sign-in; absent for the token in the data folder, whose holder has no name. */
  readonly person?: string | undefined;
  readonly session?: string | undefined;
  /** The origin of the calling page as its browser reports it: `http://127.0.0.1:7411`. */
  readonly origin?: string | undefined;
}

/** The context of a call, besides its input. */
export interface Call {
  readonly caller: Caller;
  /**
   * The agent that the call refers to, by its name in the settings; undefined for the default agent
   * (F14).
   */
  readonly agent?: string | undefined;
}

interface OperationOptions {
  /** The lowest role that may call the operation; when absent, only owners may. */
  readonly role?: Role;
  /**
   * True if only a running gateway can perform the operation: without one, the command line reports
   * that and exits with 3.
   */
  readonly running?: true;
}

/**
 * Something that can be read or changed on the page, the command line and the API. An operation is
 * declared next to its data. `perform` of `@parley/gateway/operations` checks role and input, so
 * that no interface has to.
 */
export interface Operation<Needs, Input extends z.ZodType, Output extends object>
  extends OperationOptions {
  /** A read operation also accepts GET, with its input in the query. */
  readonly does: 'read' | 'change';
  /** One line of help. */
  readonly summary: string;
  readonly input: Input;
  /** Throws ParleyError, with a message for people, if the operation cannot be performed. */
  run(needs: Needs, input: z.output<Input>, call: Call): Promise<Output>;
}

type StrictShape<Shape extends z.ZodRawShape> = ReturnType<typeof z.strictObject<Shape>>;

/**
 * Declares an operation that changes nothing. `fields` are the fields of the input.
 * @example show: read('One job', { id: z.string() }, async ({ jobs }: Needs, { id }) => (await
 * jobs()).get(id)),
 */
export function defineReadOperation<Needs, Fields extends z.ZodRawShape, Output extends object>(
  summary: string,
  fields: Fields,
  run: Operation<Needs, StrictShape<Fields>, Output>['run'],
  options: OperationOptions = {},
): Operation<Needs, StrictShape<Fields>, Output> {
  return { does: 'read', summary, input: z.strictObject(fields), run, ...options };
}

/** Declares an operation that changes something. */
export function defineChangeOperation<Needs, Fields extends z.ZodRawShape, Output extends object>(
  summary: string,
  fields: Fields,
  run: Operation<Needs, StrictShape<Fields>, Output>['run'],
  options: OperationOptions = {},
): Operation<Needs, StrictShape<Fields>, Output> {
  return { does: 'change', summary, input: z.strictObject(fields), run, ...options };
}

/**
 * Creates the error for an operation that is refused, with a message for people; the same call
 * would be refused again.
 */
export function createRefusalError(code: string, message: string): ParleyError {
  return new ParleyError({ code, message, retryable: false });
}

/** The error for a caller whose role is not sufficient. */
export class RoleNeededError extends ParleyError {
  readonly role: Role;

  constructor(role: Role, caller: Caller) {
    const message = `This needs the role ${role}; ${caller.name} is ${caller.role}.`;
    super({ code: 'role-needed', message, retryable: false });
    this.role = role;
  }
}

/** Returns the text of a service's answer. Throws ParleyError if the service refused. */
export function unwrapAnswer(code: string, { ok, text }: CronAnswer): { readonly text: string } {
  if (!ok) throw createRefusalError(code, text);
  return { text };
}

/** The services that wake a process when an operation has stored work for it. */
export interface WakeServices<Target extends object> {
  readonly log: Logger;
  wake(to: Target): Promise<void>;
}

/**
 * Wakes the process with stored work. If the queue is unavailable, the operation has succeeded all
 * the same: the next sweep finds the work.
 */
export async function wakeIfPossible<Target extends object>(
  { wake, log }: WakeServices<Target>,
  to: Target,
): Promise<void> {
  try {
    await wake(to);
  } catch (error) {
    log.warn({ ...to, reason: reasonOf(error) }, 'nothing was woken; the sweep finds the work');
  }
}
