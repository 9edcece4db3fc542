import type { OperationName } from '@parley/gateway/operations';
import type { ComponentType } from 'preact';
import type { AgentScope } from './agents.tsx';
import type { Route } from './route.ts';
import type { IconName } from './ui/icon.tsx';

/** A console page. Its file is loaded when it is first opened. */
export interface ConsoleView {
  /** The first part of the view's address, such as `queue` in `#/queue`. */
  readonly id: string;
  readonly icon: IconName;
  /** Null if the view is reached from the view `within`, which the navigation then highlights. */
  readonly label: string | null;
  readonly within?: string;
  /**
   * The operation that the view shows. Only people whose role may read it can open the view.
   * Without an operation, only owners can open the view.
   */
  readonly reads?: OperationName;
  /** Absent if the view does not concern agents. */
  readonly agent?: AgentScope;
  readonly load: () => Promise<ComponentType<Route>>;
}

const prompt = async () => (await import('./prompt/prompt-view.tsx')).PromptView;
const replay = async () => (await import('./replay/replay-view.tsx')).ReplayView;
const conversations = async () => (await import('./inbox/talk.tsx')).ConversationView;
const why = async () => (await import('./why.tsx')).WhyView;
const heartbeat = async () => (await import('./heartbeat.tsx')).HeartbeatView;
const jobs = async () => (await import('./jobs.tsx')).JobsView;
const hooks = async () => (await import('./hooks.tsx')).HooksView;
const approvals = async () => (await import('./approvals.tsx')).ApprovalsView;
const memory = async () => (await import('./memory.tsx')).MemoryView;
const skills = async () => (await import('./skills.tsx')).SkillsView;
const files = async () => (await import('./files/files-view.tsx')).FilesView;
const soul = async () => (await import('./soul.tsx')).SoulView;
const channels = async () => (await import('./channels.tsx')).ChannelsView;
const queue = async () => (await import('./queue.tsx')).QueueView;
const usage = async () => (await import('./usage/usage-view.tsx')).UsageView;
const logs = async () => (await import('./logs/logs-view.tsx')).LogsView;
const audit = async () => (await import('./audit.tsx')).AuditView;
const setup = async () => (await import('./setup/setup-view.tsx')).SetupView;
const settings = async () => (await import('./settings/settings-view.tsx')).SettingsView;
const people = async () => (await import('./people.tsx')).PeopleView;
const status = async () => (await import('./status.tsx')).StatusView;

/** One of the four places in the navigation, with its views. */
export interface NavigationPlace {
  readonly id: 'inbox' | 'agent' | 'operate' | 'settings';
  readonly name: string;
  readonly icon: IconName;
  readonly views: readonly ConsoleView[];
}

/**
 * The table of all views, by place. To add a view, only a line here and the view's file are needed.
 */
export const PLACES: readonly NavigationPlace[] = [
  {
    id: 'inbox',
    name: 'Inbox',
    icon: 'inbox',
    views: [
      {
        id: 'conversations',
        label: 'Conversations',
        icon: 'talks',
        agent: 'rows',
        load: conversations,
      },
    ],
  },
  {
    id: 'agent',
    name: 'Agent',
    icon: 'person',
    views: [
      { id: 'files', label: 'Files', icon: 'files', agent: 'own', load: files },
      { id: 'memory', label: 'Memory', icon: 'memory', agent: 'own', load: memory },
      { id: 'skills', label: 'Skills', icon: 'skills', agent: 'own', load: skills },
      { id: 'heartbeat', label: 'Heartbeat', icon: 'heartbeat', agent: 'own', load: heartbeat },
      { id: 'jobs', label: 'Jobs', icon: 'clock', agent: 'rows', load: jobs },
      { id: 'hooks', label: 'Hooks', icon: 'hooks', load: hooks },
      { id: 'soul', label: 'Soul', icon: 'soul', agent: 'own', load: soul },
      { id: 'prompt', label: 'Prompt', icon: 'prompt', agent: 'rows', load: prompt },
      { id: 'preview', label: null, within: 'prompt', icon: 'prompt', agent: 'own', load: prompt },
      { id: 'replay', label: 'Replay', icon: 'again', agent: 'rows', load: replay },
    ],
  },
  {
    id: 'operate',
    name: 'Operate',
    icon: 'status',
    views: [
      { id: 'status', label: 'Status', icon: 'status', reads: 'status/report', load: status },
      {
        id: 'channels',
        label: 'Channels',
        icon: 'channels',
        reads: 'channels/report',
        load: channels,
      },
      {
        id: 'queue',
        label: 'Queue',
        icon: 'queue',
        reads: 'queue/report',
        agent: 'rows',
        load: queue,
      },
      { id: 'approvals', label: 'Approvals', icon: 'approvals', agent: 'rows', load: approvals },
      { id: 'why', label: 'Why', icon: 'why', agent: 'rows', load: why },
      { id: 'usage', label: 'Usage', icon: 'usage', reads: 'usage/report', load: usage },
      { id: 'logs', label: 'Logs', icon: 'logs', reads: 'logs/read', load: logs },
      { id: 'audit', label: 'Audit', icon: 'audit', reads: 'audit/report', load: audit },
      { id: 'people', label: 'People', icon: 'key', load: people },
      { id: 'sessions', label: null, within: 'people', icon: 'key', load: people },
    ],
  },
  {
    id: 'settings',
    name: 'Settings',
    icon: 'settings',
    views: [
      { id: 'settings', label: 'Settings', icon: 'settings', load: settings },
      { id: 'setup', label: 'Set up', icon: 'fresh', load: setup },
    ],
  },
];

/** The first view for people who have no chat on this page. */
export const START = 'status';

/** The view of a route; undefined for the chat, which also replaces views that no longer exist. */
export function findView({ view }: Route): ConsoleView | undefined {
  return PLACES.flatMap(({ views }) => views).find(({ id }) => id === view);
}

/** The place that contains a view; without a view, it is the inbox, which contains the chat. */
export function findPlace(view: ConsoleView | undefined): NavigationPlace | undefined {
  return PLACES.find(({ id, views }) =>
    view === undefined ? id === 'inbox' : views.includes(view),
  );
}
