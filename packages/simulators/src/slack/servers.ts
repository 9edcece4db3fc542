import type { Dispatcher } from './dispatcher.ts';
import type { Interactions } from './interactions.ts';
import type { Workspace } from './workspace.ts';

/** The servers: the workspace, what people are doing in it, and the way to the bot. */
export interface SlackServers {
  readonly workspace: Workspace;
  readonly interactions: Interactions;
  readonly dispatcher: Dispatcher;
}
