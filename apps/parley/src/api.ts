import { agentOfConversation, systemTime } from '@parley/core';
import type * as routes from '@parley/gateway/routes';
import type { Store } from '@parley/store';
import { type Cli, withStore } from './cli.ts';
import type { DataFolder } from './data-folder.ts';
import {
  answerOf,
  askGateway,
  findGateway,
  isRefused,
  ofAgent,
  otherVersion,
  type Question,
  requestOf,
} from './running-gateway.ts';
import type { LoadedSettings } from './settings.ts';

/** A group of routes of the gateway's API, as a command uses it. */
export interface Api {
  /** Whether a gateway answers; without one its routes work here, on the database. */
  readonly isRunning: boolean;
  /** Asks a route of the group, whose type for that answer is `Answer`. */
  ask<Answer>(path: string, question?: Question): Promise<Answer>;
}

/** Runs a command on the API, whether a gateway runs or not. What a route refuses is printed: 1. */
export async function withApi(
  cli: Cli,
  group: keyof typeof HERE,
  work: (api: Api) => Promise<number>,
): Promise<number> {
  const { folder, env, print, agent } = cli;
  try {
    const gateway = await findGateway(folder, env);
    if (gateway !== null) {
      const ask: Api['ask'] = (path, question) =>
        askGateway(gateway, ofAgent(`${group}${path}`, agent), question);
      return await work({ isRunning: true, ask }).catch((error) => {
        // An answer is not parsed, since its type is the gateway's own; only another version has another form.
        throw error instanceof TypeError ? otherVersion(gateway, error) : error;
      });
    }
    return await withStore(cli, async (store, loaded) => {
      const opened = await HERE[group](await import('@parley/gateway/routes'), {
        store,
        loaded,
        folder,
        env,
        agent,
      });
      return work(apiHere(opened, agent));
    });
  } catch (error) {
    if (!isRefused(error)) throw error;
    print(error.message);
    return 1;
  }
}

function apiHere(opened: RequestHandler, agent: string | undefined): Api {
  // A failure here is one of the command.
  opened.onError((error) => {
    throw error;
  });
  const ask: Api['ask'] = async (path, question = {}) =>
    answerOf(await opened.request(ofAgent(path, agent), requestOf(question)));
  return { isRunning: false, ask };
}

interface RequestHandler {
  request(path: string, init: RequestInit): Response | Promise<Response>;
  onError(handler: (error: Error) => never): unknown;
}

interface Found {
  readonly store: Store;
  readonly loaded: LoadedSettings;
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  /** Which agent is asked for; undefined: the default one. */
  readonly agent: string | undefined;
}

/** Whose a conversation is, by the name in routes. */
function namesIn({ settings }: LoadedSettings): (conversationId: string) => string {
  return (conversationId) => agentOfConversation(conversationId) ?? settings.agent.id;
}

type OpenHere = (to: typeof routes, found: Found) => RequestHandler | Promise<RequestHandler>;

/** The same routes where no gateway runs: what they leave to be done the next start looks for. */
const HERE = {
  '/api/channels': async (_routes, { store, loaded, folder, env }) => {
    const [{ channelRoutes }, { createChannelService }, { CHANNEL_DEFINITIONS: channels }] =
      await Promise.all([
        import('@parley/gateway/channel-routes'),
        import('@parley/gateway/channel-service'),
        import('@parley/gateway/channel-definitions'),
      ]);
    const [{ planAccounts }, { accountsHere, channelSettings }] = await Promise.all([
      import('./access.ts'),
      import('./channels.ts'),
    ]);
    const { clock, monotonic } = systemTime;
    const planned = planAccounts(loaded, loaded.settings.owners, channels);
    return channelRoutes(
      createChannelService({
        ...{ store, clock, monotonic, accounts: await accountsHere(planned, store, clock) },
        settings: channelSettings({ folder, env, clock, channels }),
        deliver: async () => {},
      }),
    );
  },
  '/api/approvals': async (_routes, { store, loaded }) => {
    const { approvalRoutes } = await import('@parley/gateway/decision-routes');
    const nothing = async () => {};
    const idle = { wake: nothing, deliver: nothing };
    return approvalRoutes({
      ...{ store, clock: systemTime.clock, nameOf: namesIn(loaded), ...idle },
      scrub: (text) => text,
    });
  },
  '/api/sessions': ({ sessionRoutes }, { store: { pageSessions, signIns } }) =>
    sessionRoutes({
      ...pageSessions,
      async list() {
        const named = new Map((await signIns.list()).map((signIn) => [signIn.hash, signIn]));
        const stored = await pageSessions.list(systemTime.clock());
        return stored.map((one) => ({ ...one, signIn: named.get(one.openedWith) ?? null }));
      },
    }),
} as const satisfies Readonly<Record<string, OpenHere>>;
