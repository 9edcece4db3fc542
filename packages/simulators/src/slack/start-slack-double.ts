import { createServer } from 'node:http';
import { listenOnLoopback, stopServer } from '../loopback.ts';
import { pressButton, runSlashCommand, submitForm } from './acting.ts';
import { Dispatcher, REAL_RETRIES } from './dispatcher.ts';
import { emitEvent } from './events.ts';
import { FaultInjector } from './faults.ts';
import { FileStore } from './file-store.ts';
import { InteractionStore } from './interactions.ts';
import {
  deleteAsAuthor,
  editAsAuthor,
  getChannel,
  reactAsPerson,
  sendPersonMessage,
  setBotMembership,
  uninstallApp,
} from './people.ts';
import { RateLimits } from './rate-limits.ts';
import { WebApiServer } from './server.ts';
import type { SlackServers } from './servers.ts';
import type { SlackDouble, SlackDoubleOptions } from './slack-double.ts';
import { SocketMode } from './socket-mode.ts';
import { Transcript } from './transcript.ts';
import { listVisibleMessages } from './visible.ts';
import { verifyUrl } from './webhook.ts';
import {
  addChannel,
  addMember,
  IdSequence,
  type Member,
  openDirectChat,
  toThreadKey,
  type Workspace,
} from './workspace.ts';

/**
 * Starts a local Slack workspace with one app: the Web API over plain HTTP, signed requests and
 * Socket Mode, Slack's limits and refusals, and injectable faults.
 */
export async function startSlackDouble(options: SlackDoubleOptions = {}): Promise<SlackDouble> {
  const clock = options.clock ?? Date.now;
  const workspace = createWorkspace(options, clock);
  const { app, bot, team, transcript } = workspace;
  const faults = new FaultInjector();
  const socket = new SocketMode(app.id, () => transcript.changes.changed());
  const signing = { secret: app.signingSecret, clock };
  const retries = { ...REAL_RETRIES, ...options.retries };
  const dispatcher = new Dispatcher({ signing, socket, faults }, transcript, retries);
  const servers: SlackServers = {
    workspace,
    dispatcher,
    interactions: new InteractionStore(workspace),
  };
  const api = new WebApiServer(servers, faults, socket);

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://double');
    const failed = (error: unknown) => response.writeHead(500).end(String(error));
    if (url.pathname.startsWith('/control/')) {
      import('./control.ts')
        .then(({ handleControl }) => handleControl(double, request, response, url))
        .catch(failed);
    } else api.handle(request, response, url).catch(failed);
  });
  server.on('upgrade', (request, stream, head) => socket.upgrade(request, stream, head));
  server.keepAliveTimeout = 60_000;
  const port = await listenOnLoopback(server, options.port ?? 0);
  workspace.origin = `http://127.0.0.1:${port}`;

  const double: SlackDouble = {
    apiUrl: `${workspace.origin}/api/`,
    ...{ botToken: app.botToken, appToken: app.appToken, signingSecret: app.signingSecret },
    ...{ teamId: team.id, appId: app.id, transcript },
    me: { id: bot.id, name: bot.name, botId: app.botId },
    async setRequestUrl(url) {
      if (url !== undefined) await verifyUrl(url, app.verificationToken, signing);
      dispatcher.requestUrl = url;
    },
    ...createControlMethods(servers),
    ...createReadMethods(servers),
    connections: () => socket.connections,
    fault: (fault) => faults.arm(fault),
    clearFaults: () => faults.clear(),
    askToLeave: (reason) => socket.askToLeave(reason),
    dropConnections: () => {
      socket.drop();
      server.closeAllConnections();
    },
    mute: () => socket.mute(),
    close: () => {
      dispatcher.close();
      socket.close();
      return stopServer(server);
    },
  };
  return double;
}

/** Creates the methods that act as people and change the workspace. */
function createControlMethods(servers: SlackServers) {
  const { workspace } = servers;
  return {
    addMember: (wish) => addMember(workspace, wish).id,
    addChannel: ({ name, kind = 'public', members = [], sharedWith }) =>
      addChannel(workspace, { name, kind, members, sharedWith }).id,
    directChat: (user) => openDirectChat(workspace, user).id,
    say: (saying) => sendPersonMessage(servers, saying),
    reword: (channel, ts, text) => editAsAuthor(servers, channel, ts, text),
    erase: (channel, ts) => deleteAsAuthor(servers, channel, ts),
    react: (reaction) => reactAsPerson(servers, reaction),
    press: (wish) => pressButton(servers, wish),
    slash: (command) => runSlashCommand(servers, command),
    submit: (submission) => submitForm(servers, submission),
    event: (event, channel) => {
      const where = channel === undefined ? {} : { channel: getChannel(workspace, channel) };
      emitEvent(servers, event, where);
    },
    setBot: (channel, isIn) => setBotMembership(servers, channel, isIn),
    archive: (channel, isArchived = true) => {
      getChannel(workspace, channel).isArchived = isArchived;
    },
    deactivate: (user) => {
      const member = workspace.members.get(user);
      if (member !== undefined) member.isDeactivated = true;
    },
    uninstall: () => uninstallApp(servers),
  } satisfies Partial<SlackDouble>;
}

/** Creates the methods that read the workspace and the recorded traffic. */
function createReadMethods({ workspace, interactions }: SlackServers) {
  const { transcript } = workspace;
  return {
    interaction: (id) => interactions.get(id)?.state ?? 'failed',
    conversation: (channel) => listVisibleMessages(workspace, getChannel(workspace, channel)),
    status: (channel, ts) => {
      if (ts !== undefined) return workspace.statuses.get(toThreadKey(channel, ts));
      const prefix = toThreadKey(channel, '');
      return workspace.statuses.entries().find(([key]) => key.startsWith(prefix))?.[1];
    },
    views: () => [...workspace.views.values()],
    file: (id) => workspace.files.get(id)?.bytes,
    calls: (method) => transcript.calls(method),
    deliveries: (what) => transcript.deliveries(what),
    waitFor: (look, timeoutMs = 30_000) => transcript.changes.waitFor(look, timeoutMs),
  } satisfies Partial<SlackDouble>;
}

function createWorkspace(
  { limits = {}, optional = 'present' }: SlackDoubleOptions,
  clock: () => number,
): Workspace {
  const bot: Member = {
    ...{ id: 'U0DBLBOT', name: 'Parley', teamId: 'T0DOUBLE' },
    ...{ isBot: true, isGuest: false, isAdmin: false, isDeactivated: false },
  };
  const workspace: Workspace = {
    team: { id: 'T0DOUBLE', name: 'Double', domain: 'double' },
    app: {
      ...{ id: 'A0DOUBLE', botId: 'B0DOUBLE', verificationToken: 'double-verification' },
      botToken: 'xoxb-double-token-for-tests-and-trying-out',
      appToken: 'xapp-1-A0DOUBLE-double-token-for-tests-and-trying-out',
      ...{ signingSecret: 'double-signing-secret', isUninstalled: false },
    },
    bot,
    members: new Map([[bot.id, bot]]),
    ...{ channels: new Map(), files: new FileStore(), statuses: new Map(), views: new Map() },
    transcript: new Transcript(clock, () => describeState(workspace)),
    limits: new RateLimits(limits, clock),
    ...{ clock, optional, ids: new IdSequence(clock), origin: '' },
  };
  return workspace;
}

/** Lists the newest messages for the error message of a wait that timed out. */
function describeState(workspace: Workspace): string {
  const all = [...workspace.channels.values()].flatMap((channel) =>
    listVisibleMessages(workspace, channel),
  );
  const newest = all.sort((a, b) => a.seq - b.seq).slice(-10);
  return `Visible: ${newest.map(({ from, text }) => `${from}: ${text.slice(0, 60)}`).join(' | ')}`;
}
