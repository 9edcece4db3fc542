import {
  type Call,
  createRefusalError,
  isRoleAtLeast,
  type Operation,
  RoleNeededError,
} from '@parley/core';
import { type Scrub, scrubJson } from '@parley/core/telemetry/scrubber';
import type { z } from 'zod';

/** All operation groups. A group is loaded when it is first called. */
export const GROUPS = {
  access: async () => (await import('./access-operations.ts')).operations,
  agents: async () => (await import('./agent-operations.ts')).operations,
  approvals: async () => (await import('./approval-operations.ts')).operations,
  audit: async () => (await import('./diagnosis-operations.ts')).audit,
  channels: async () => (await import('./channel-operations.ts')).operations,
  conversations: async () => (await import('./conversation-operations.ts')).operations,
  cron: async () => (await import('@parley/proactive/cron')).operations,
  dead: async () => (await import('./dead-letter-operations.ts')).operations,
  evals: async () => (await import('./eval-operations.ts')).operations,
  files: async () => (await import('./file-operations.ts')).operations,
  gateway: async () => (await import('./gateway-operations.ts')).operations,
  heartbeat: async () => (await import('@parley/proactive/heartbeat')).operations,
  hooks: async () => (await import('@parley/proactive/hooks')).operations,
  logs: async () => (await import('./diagnosis-operations.ts')).logs,
  mcp: async () => (await import('./mcp-operations.ts')).operations,
  memory: async () => (await import('@parley/agent/memory')).operations,
  people: async () => (await import('./people-operations.ts')).operations,
  prompts: async () => (await import('./prompt-operations.ts')).operations,
  queue: async () => (await import('./queue-operations.ts')).operations,
  replay: async () => (await import('./replay-operations.ts')).operations,
  report: async () => (await import('./diagnosis-operations.ts')).report,
  sessions: async () => (await import('./session-operations.ts')).operations,
  settings: async () => (await import('./settings-operations.ts')).operations,
  setup: async () => (await import('./setup-operations.ts')).operations,
  skills: async () => (await import('./skill-operations.ts')).operations,
  soul: async () => (await import('@parley/agent/soul')).operations,
  status: async () => (await import('./status-operations.ts')).operations,
  usage: async () => (await import('./usage-operations.ts')).operations,
  why: async () => (await import('./why-operations.ts')).operations,
} as const;

type OperationGroups = { [G in keyof typeof GROUPS]: Awaited<ReturnType<(typeof GROUPS)[G]>> };

/** `cron/list`. */
export type OperationName = {
  [G in keyof OperationGroups]: `${G}/${keyof OperationGroups[G] & string}`;
}[keyof OperationGroups];

type NamedOperation<Name> = Name extends `${infer G extends keyof OperationGroups}/${infer N}`
  ? OperationGroups[G][N & keyof OperationGroups[G]]
  : never;
export type IntersectionOf<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer Whole,
) => void
  ? Whole
  : never;

export type InputOf<Name extends OperationName> = z.input<NamedOperation<Name>['input']>;
export type OutputOf<Name extends OperationName> = Awaited<ReturnType<NamedOperation<Name>['run']>>;

/**
 * The services that the operations in all groups need. Each service is opened when it is first
 * requested.
 */
export type OperationServices = IntersectionOf<
  Parameters<NamedOperation<OperationName>['run']>[0]
> & {
  /** Removes secrets from every response (G18). */
  readonly scrub: Scrub;
};

type AnyOperation = Operation<OperationServices, z.ZodType, object>;

/** Finds an operation; undefined if no operation has that name. */
export async function findOperation(name: string): Promise<AnyOperation | undefined> {
  const [group = '', own = ''] = name.split('/');
  if (!isOperationGroup(group)) return undefined;
  const operations: Readonly<Record<string, AnyOperation>> = await GROUPS[group]();
  return Object.hasOwn(operations, own) ? operations[own] : undefined;
}

/** Lists all operations with their names, which loads all groups. */
export async function listOperations(): Promise<readonly (AnyOperation & { name: string })[]> {
  const groups = Object.entries(GROUPS).map(async ([group, load]) => {
    const operations: Readonly<Record<string, AnyOperation>> = await load();
    return Object.entries(operations).map(([own, one]) => ({ ...one, name: `${group}/${own}` }));
  });
  return (await Promise.all(groups)).flat();
}

function isOperationGroup(name: string): name is keyof typeof GROUPS {
  return Object.hasOwn(GROUPS, name);
}

/**
 * Performs an operation for a caller on any interface: checks the role and the input, runs the
 * operation and removes secrets. If the operation is refused, throws ParleyError with a message for
 * people. Calls without a caller are refused.
 */
export function performOperation<Name extends OperationName>(
  services: OperationServices,
  name: Name,
  input: unknown,
  call: PartialCall,
): Promise<OutputOf<Name>>;
export function performOperation(
  services: OperationServices,
  name: string,
  input: unknown,
  call: PartialCall,
): Promise<object>;
export async function performOperation(
  services: OperationServices,
  name: string,
  input: unknown,
  { caller, ...call }: PartialCall,
): Promise<object> {
  const operation = await findOperation(name);
  if (operation === undefined)
    throw createRefusalError('no-operation', `There is no operation ${name}.`);
  const { role = 'owner' } = operation;
  if (caller === undefined)
    throw createRefusalError('no-caller', `${name} was called without a caller.`);
  if (!isRoleAtLeast(caller.role, role)) throw new RoleNeededError(role, caller);
  const parsed = operation.input.safeParse(input);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) =>
      [path.join('.'), message].filter((part) => part !== '').join(': '),
    );
    throw createRefusalError('wrong-input', problems.join(' '));
  }
  const answer = await operation.run(services, parsed.data, { ...call, caller });
  return JSON.parse(scrubJson(JSON.stringify(answer), services.scrub));
}

type PartialCall = Omit<Call, 'caller'> & { readonly caller: Call['caller'] | undefined };
