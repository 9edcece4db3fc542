export {
  defineTool,
  type Tool,
  type ToolCall,
  type ToolOutcome,
  type TurnHook,
} from '@parley/agent';
export type { ChannelAdapter, ChannelContext, ChannelDefinition } from '@parley/channels';
export { absent, type ContextSource, type Layer } from '@parley/prompt';
export type { WorkspaceView } from '@parley/workspace';
export { describeOutcome } from './describe-outcome.ts';
export { guardedLayer } from './guard.ts';
export { type LoadPluginsOptions, loadPlugins } from './load-plugins.ts';
export { placeLayers } from './place-layers.ts';
export {
  definePlugin,
  type Plugin,
  type PluginHost,
  type PluginLayer,
  type PluginParts,
} from './plugin.ts';
export { PluginError, type PluginErrorCode } from './plugin-error.ts';
export {
  type Brought,
  broughtBy,
  type PluginChoice,
  type PluginOutcome,
} from './plugin-outcome.ts';
