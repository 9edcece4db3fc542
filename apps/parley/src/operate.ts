import { ParleyError } from '@parley/core';
import {
  findOperation,
  type InputOf,
  type OperationName,
  type OutputOf,
  performOperation,
} from '@parley/gateway/operations';
import { type CliContext, formatJson, reportNotRunning, withStore } from './cli.ts';
import { createCommandServices } from './command-services.ts';
import {
  addAgentToPath,
  askGateway,
  createOtherVersionError,
  createRefusedError,
  findGateway,
  isRefusedError,
} from './running-gateway.ts';
import { stripControlCharacters } from './terminal/text.ts';

/**
 * The caller's identity when no gateway is running. Users who can write the data folder act as its
 * owner.
 */
const CALLER = { name: 'the command line', role: 'owner' } as const;

/** Performs operations through the running gateway, or in this process directly on the database. */
export interface Operations {
  /** The gateway's address; null if this process performs the operations. */
  readonly address: string | null;
  /** `withinMs` is the time that the gateway may take; by default a few seconds. */
  perform<Name extends OperationName>(
    name: Name,
    input: InputOf<Name>,
    withinMs?: number,
  ): Promise<OutputOf<Name>>;
}

/**
 * Runs a command that performs `name` and possibly other operations. Resolves to the exit code of
 * `work`. The code is 1 if an operation was refused, with the reason printed, and 3 if `name` needs
 * a gateway and none is running.
 */
export async function withOperations(
  cli: CliContext,
  name: OperationName,
  work: (operations: Operations) => Promise<number>,
): Promise<number> {
  try {
    const gateway = await findGateway(cli.folder, cli.env);
    if (gateway === null) return await runOffline(cli, name, work);
    const perform: Operations['perform'] = (asked, input, withinMs) =>
      askGateway(gateway, addAgentToPath(`/api/${asked}`, cli.agent), {
        body: { ...input },
        withinMs,
      });
    return await work({ address: gateway.address, perform }).catch((error) => {
      // Responses are not validated, because the gateway and the command share their types. Only a
      // gateway with another version can respond in a different form.
      throw error instanceof TypeError ? createOtherVersionError(gateway, error) : error;
    });
  } catch (error) {
    if (!isRefusedError(error)) throw error;
    cli.print(error.message);
    return 1;
  }
}

async function runOffline(
  cli: CliContext,
  name: OperationName,
  work: (operations: Operations) => Promise<number>,
): Promise<number> {
  if ((await findOperation(name))?.running) return reportNotRunning(cli);
  const ends: (() => void)[] = [];
  return withStore(cli, async (store, loaded) => {
    const services = createCommandServices(cli, store, loaded, (end) => void ends.push(end));
    const call = { caller: CALLER, agent: cli.agent };
    return work({
      address: null,
      perform: (asked, input) =>
        performOperation(services, asked, input, call).catch(rethrowRefusal),
    });
  }).finally(() => {
    for (const end of ends) end();
  });
}

function rethrowRefusal(error: unknown): never {
  throw error instanceof ParleyError ? createRefusedError(error.message, error.code) : error;
}

/**
 * Performs one operation and prints its response as text, or unformatted with `--json`. `codeOf`
 * returns the exit code.
 */
export function operateAndPrint<Name extends OperationName>(
  cli: CliContext,
  name: Name,
  input: InputOf<Name>,
  show: (answer: OutputOf<Name>) => string,
  codeOf: (answer: OutputOf<Name>) => number = () => 0,
  withinMs?: number,
): Promise<number> {
  return withOperations(cli, name, async ({ perform }) => {
    const answer = await perform(name, input, withinMs);
    cli.print(cli.json ? formatJson(answer) : show(answer));
    return codeOf(answer);
  });
}

/** An operation that responds with text for people. */
type TextOperation = {
  [Name in OperationName]: OutputOf<Name> extends { readonly text: string } ? Name : never;
}[OperationName];

/** Like `operate`, for operations that respond with text. */
export function operateText<Name extends TextOperation>(
  cli: CliContext,
  name: Name,
  input: InputOf<Name>,
): Promise<number> {
  return operateAndPrint(cli, name, input, ({ text }) =>
    stripControlCharacters(text.replaceAll('`', '')),
  );
}
