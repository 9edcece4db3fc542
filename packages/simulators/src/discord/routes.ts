import { ACCOUNT_ROUTES } from './account-routes.ts';
import { CHANNEL_ROUTES } from './channel-routes.ts';
import { COMMAND_ROUTES } from './commands.ts';
import { INTERACTION_ROUTES } from './interaction-routes.ts';
import { MESSAGE_ROUTES } from './message-routes.ts';
import { REACTION_ROUTES } from './reaction-routes.ts';
import type { Routes } from './route-table.ts';

/** Everything the double answers; exact paths stand before those with names. */
export const ROUTES: Routes = {
  ...ACCOUNT_ROUTES,
  ...REACTION_ROUTES,
  ...MESSAGE_ROUTES,
  ...CHANNEL_ROUTES,
  ...COMMAND_ROUTES,
  ...INTERACTION_ROUTES,
};
