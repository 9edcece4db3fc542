import type { Clock } from '@parley/core';
import { z } from 'zod';
import { type ClientOptions, createConnection, type McpConnection, openClient } from './client.ts';
import { describeStartFailure, findSignInRequired, McpError } from './errors.ts';
import { connectOverHttp } from './http.ts';
import type { SignInServices } from './oauth/sign-in-state.ts';
import type { McpPeer, McpServerConfig } from './peer.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import { createStdioTransport } from './stdio.ts';

/** The options and dependencies of `connect`. */
interface ConnectOptions extends Omit<ClientOptions, 'opening'> {
  readonly clock: Clock;
  /** If it is absent, people cannot sign in. */
  readonly signIn?: SignInServices | undefined;
  /** Parley's environment variables, few of which are passed to a server. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Connects to a server; throws McpError if it cannot be reached. */
export type Connect = (config: McpServerConfig, options: ConnectOptions) => Promise<McpConnection>;

/** The client library is loaded on the first connection (D03). */
export const connect: Connect = async ({ peer }, options) => {
  try {
    return peer.kind === 'stdio'
      ? await connectOverStdio(peer, options)
      : await connectOverHttp(peer, options);
  } catch (error) {
    const signIn = findSignInRequired(error);
    const code = signIn === undefined ? 'mcp-unreachable' : 'mcp-sign-in';
    const message = signIn?.message ?? describeStartFailure(error);
    throw new McpError({ code, message, retryable: true, cause: error });
  }
};

type StdioPeer = Extract<McpPeer, { kind: 'stdio' }>;

/** A server that exits on a request it does not know is started again with `initialize`. */
async function connectOverStdio(peer: StdioPeer, options: ConnectOptions): Promise<McpConnection> {
  try {
    return await startAndConnect(peer, options, 'discover');
  } catch (error) {
    if (!(error instanceof ServerExitedError) || options.signal.aborted) throw error;
    return await startAndConnect(peer, options, 'initialize');
  }
}

/** Thrown when a server exited after the version request, before the handshake was complete. */
class ServerExitedError extends Error {}

async function startAndConnect(
  peer: StdioPeer,
  { env, ...options }: ConnectOptions,
  opening: ClientOptions['opening'],
): Promise<McpConnection> {
  const server = await startOrExplain(peer, env);
  const transport = createStdioTransport({ server });
  try {
    const client = await openClient(transport, { ...options, opening });
    const close = async (): Promise<void> => {
      await client.close();
      // After the connection has ended, the client's `close` no longer terminates the process.
      await server.end();
    };
    return createConnection({ client, ended: transport.ended, close, isSessionLost: () => false });
  } catch (error) {
    await server.end();
    const said = transport.lastWords();
    if (options.signal.aborted) {
      throw new Error(
        `it did not complete the handshake in time${said === '' ? '' : `; its last output: ${said}`}`,
      );
    }
    // The exit status of the process is more informative than "Connection closed".
    const how = await Promise.race([transport.ended, error]);
    if (typeof how !== 'string' || how === 'it was closed') throw error;
    // This also applies after `initialize` was sent: a server that starts slowly still reads the
    // version request first.
    throw opening === 'discover' ? new ServerExitedError(how) : new Error(how);
  }
}

async function startOrExplain(peer: StdioPeer, env: ConnectOptions['env']): Promise<ServerProcess> {
  try {
    return await startServerProcess(peer, env);
  } catch (error) {
    const { code } = z.object({ code: z.string() }).safeParse(error).data ?? { code: '' };
    if (code === 'EACCES') throw new Error(`the program ${peer.command} may not be started`);
    if (code !== 'ENOENT') throw error;
    const where = peer.cwd === undefined ? '' : `, or no folder ${peer.cwd}`;
    throw new Error(
      `there is no program ${peer.command}${where}; install it, or correct “command”`,
    );
  }
}
