/** It has no types of its own: tables, strikethrough and task lists for Turndown. */
declare module 'turndown-plugin-gfm' {
  import type TurndownService from 'turndown';

  export const gfm: TurndownService.Plugin;
}
