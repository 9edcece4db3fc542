import { setTimeout as timer } from 'node:timers/promises';
import type { Clock, Logger, Monotonic } from '@parley/core';
import type { McpInputRequest, McpReply } from './asking.ts';
import type { McpServerView } from './board.ts';
import { connect } from './connect.ts';
import { McpError } from './errors.ts';
import { type ServerKeeperDeps, startServerKeeper } from './keep-server.ts';
import type { McpServerConfig } from './peer.ts';
import type { McpResult } from './results.ts';
import { type CallArguments, toServerArguments } from './schema/server-arguments.ts';

/** The MCP servers of an installation. */
export interface McpServers {
  /** The current state of all servers, in the order of the settings. */
  views(): readonly McpServerView[];
  /**
   * Calls a tool with arguments that fit the offered schema. If the server asks a question first,
   * it has not executed the call; the caller repeats the call with `reply`. Throws McpError, or the
   * abort reason of the signal.
   */
  call(
    server: string,
    tool: string,
    input: CallArguments,
    signal: AbortSignal,
    reply?: McpReply,
  ): Promise<McpResult | McpInputRequest>;
  resources(server: string, signal: AbortSignal): Promise<string>;
  resource(server: string, uri: string, signal: AbortSignal): Promise<McpResult>;
  /** Fills in a prompt with its arguments and returns its text. */
  prompt(
    server: string,
    name: string,
    input: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string>;
  /** Closes all connections and ends all processes. */
  close(): Promise<void>;
}

/** The dependencies of `openMcpServers`. */
export interface McpServersDeps
  extends Pick<ServerKeeperDeps, 'onOffer' | 'signInAt'>,
    Partial<Pick<ServerKeeperDeps, 'connect' | 'pause'>> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly random: () => number;
  readonly log: Logger;
}

/** Starts connecting to all servers in the background and returns immediately. */
export function openMcpServers(
  configs: readonly McpServerConfig[],
  deps: McpServersDeps,
): McpServers {
  const keeping = { connect, pause: sleep, ...deps };
  const kept = new Map(configs.map((config) => [config.name, startServerKeeper(config, keeping)]));
  const serverOf = (name: string) => {
    const server = kept.get(name);
    if (server !== undefined) return server;
    const message = `there is no MCP server ${name} in the settings`;
    throw new McpError({ code: 'mcp-not-connected', message, retryable: false });
  };
  return {
    views: () => [...kept.values()].map((server) => server.view()),
    call: (server, tool, input, signal, reply) => {
      const kept = serverOf(server);
      const shape = kept.view().tools.find(({ name }) => name === tool)?.shape ?? {};
      const own = toServerArguments(shape, input);
      return kept.use((connection) => connection.call(tool, own, signal, reply), signal);
    },
    resources: (server, signal) =>
      serverOf(server).use((connection) => connection.resources(signal), signal),
    resource: (server, uri, signal) =>
      serverOf(server).use((connection) => connection.resource(uri, signal), signal),
    prompt: (server, name, input, signal) =>
      serverOf(server).use((connection) => connection.prompt(name, input, signal), signal),
    async close() {
      await Promise.all([...kept.values()].map((server) => server.close()));
    },
  };
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  // If the connection ended early, no caller is waiting for it.
  await timer(ms, undefined, { signal, ref: false }).catch(() => {});
}
