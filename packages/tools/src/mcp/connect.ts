import type { Clock } from '@parley/core';
import { z } from 'zod';
import { type ClientOptions, connectionOf, type McpConnection, openClient } from './client.ts';
import { McpError, signInIn, startReason } from './errors.ts';
import { overHttp } from './http.ts';
import type { SignInMeans } from './oauth/sign-in-state.ts';
import type { McpPeer, McpServerConfig } from './peer.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import { stdioTransport } from './stdio.ts';

/** The services of connecting. */
interface ConnectOptions extends Omit<ClientOptions, 'opening'> {
  readonly clock: Clock;
  /** Without it nobody signs in. */
  readonly signIn?: SignInMeans | undefined;
  /** The environment of Parley, of which a server is given very little. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Makes a connection to a server; throws McpError when it cannot be reached. */
export type Connect = (config: McpServerConfig, options: ConnectOptions) => Promise<McpConnection>;

/** Connects over stdio or HTTP. The protocol is loaded here and not before (D03). */
export const connect: Connect = async ({ peer }, options) => {
  try {
    return peer.kind === 'stdio' ? await overStdio(peer, options) : await overHttp(peer, options);
  } catch (error) {
    const signIn = signInIn(error);
    const code = signIn === undefined ? 'mcp-unreachable' : 'mcp-sign-in';
    const message = signIn?.message ?? startReason(error);
    throw new McpError({ code, message, retryable: true, cause: error });
  }
};

type StdioPeer = Extract<McpPeer, { kind: 'stdio' }>;

/** Asks for the version first; a server that ends at a question it does not know is started again without it. */
async function overStdio(peer: StdioPeer, options: ConnectOptions): Promise<McpConnection> {
  try {
    return await startAndOpen(peer, options, 'discover');
  } catch (error) {
    if (!(error instanceof EndedAtQuestionError) || options.signal.aborted) throw error;
    return await startAndOpen(peer, options, 'initialize');
  }
}

/** Thrown when a server that was asked for its version ended before it said hello. */
class EndedAtQuestionError extends Error {}

async function startAndOpen(
  peer: StdioPeer,
  { env, ...options }: ConnectOptions,
  opening: ClientOptions['opening'],
): Promise<McpConnection> {
  const server = await startOrWhy(peer, env);
  const transport = stdioTransport({ server });
  try {
    const client = await openClient(transport, { ...options, opening });
    const close = async (): Promise<void> => {
      await client.close();
      // A client whose connection has ended closes nothing any more.
      await server.end();
    };
    return connectionOf({ client, ended: transport.ended, close, isSessionLost: () => false });
  } catch (error) {
    await server.end();
    const said = transport.lastWords();
    if (options.signal.aborted) {
      throw new Error(`it did not say hello in time${said === '' ? '' : `; it had said: ${said}`}`);
    }
    // "Connection closed" says less than how the process ended.
    const how = await Promise.race([transport.ended, error]);
    if (typeof how !== 'string' || how === 'it was closed') throw error;
    // This includes a server that was greeted in the meantime: one that starts slowly still reads the question first.
    throw opening === 'discover' ? new EndedAtQuestionError(how) : new Error(how);
  }
}

async function startOrWhy(peer: StdioPeer, env: ConnectOptions['env']): Promise<ServerProcess> {
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
