/** Types for the Turndown plugin (tables, strikethrough, task lists), which ships none. */
declare module 'turndown-plugin-gfm' {
  import type TurndownService from 'turndown';

  export const gfm: TurndownService.Plugin;
}
