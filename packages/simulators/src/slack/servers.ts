import type { Dispatcher } from './dispatcher.ts';
import type { InteractionStore } from './interactions.ts';
import type { Workspace } from './workspace.ts';

/** The workspace, the pending interactions and the dispatcher of events. */
export interface SlackServers {
  readonly workspace: Workspace;
  readonly interactions: InteractionStore;
  readonly dispatcher: Dispatcher;
}
