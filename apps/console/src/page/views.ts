import type { ComponentType } from 'preact';
import type { Route } from './route.ts';
import type { IconName } from './ui/widgets.tsx';

/** A page of the console. Its file is loaded when it is first opened. */
export interface View {
  /** The first part of its address, `#/queue`. */
  readonly id: string;
  /** In the navigation. Without it the view is reached from another one. */
  readonly label?: string;
  readonly icon: IconName;
  /** The view that the navigation marks instead. */
  readonly within?: string;
  readonly load: () => Promise<ComponentType<Route>>;
}

/** The navigation: all views but the chat, in groups. A new page is one entry here and a file. */
export const GROUPS: readonly { readonly name: string; readonly views: readonly View[] }[] = [
  {
    name: 'Conversations',
    views: [
      {
        id: 'why',
        label: 'Why',
        icon: 'why',
        load: async () => (await import('./why.tsx')).WhyView,
      },
    ],
  },
  {
    name: 'Agent',
    views: [
      {
        id: 'prompt',
        label: 'Prompt',
        icon: 'prompt',
        load: async () => (await import('./prompt/prompt-view.tsx')).PromptView,
      },
      {
        id: 'preview',
        within: 'prompt',
        icon: 'prompt',
        load: async () => (await import('./prompt/prompt-view.tsx')).PromptView,
      },
      {
        id: 'heartbeat',
        label: 'Heartbeat',
        icon: 'heartbeat',
        load: async () => (await import('./heartbeat.tsx')).HeartbeatView,
      },
      {
        id: 'soul',
        label: 'Soul',
        icon: 'soul',
        load: async () => (await import('./soul.tsx')).SoulView,
      },
    ],
  },
  {
    name: 'Operation',
    views: [
      {
        id: 'queue',
        label: 'Queue',
        icon: 'queue',
        load: async () => (await import('./queue.tsx')).QueueView,
      },
      {
        id: 'audit',
        label: 'Audit',
        icon: 'audit',
        load: async () => (await import('./audit.tsx')).AuditView,
      },
      {
        id: 'sessions',
        label: 'Sessions',
        icon: 'key',
        load: async () => (await import('./sessions.tsx')).SessionsView,
      },
    ],
  },
];

/** The view of a route; undefined: the chat, also for an address of a page that is not there any more. */
export function viewOf({ view }: Route): View | undefined {
  return GROUPS.flatMap(({ views }) => views).find(({ id }) => id === view);
}
