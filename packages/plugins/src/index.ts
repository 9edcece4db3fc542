export {
  defineTool,
  type Tool,
  type ToolCall,
  type ToolOutcome,
  type TurnHook,
} from '@parley/agent';
export type { ChannelAdapter, ChannelContext, ChannelDefinition } from '@parley/channels';
export { type ContextSource, createAbsent as absent, type Layer } from '@parley/prompt';
export type { WorkspaceView } from '@parley/workspace';
export { guardLayer } from './guard-parts.ts';
export { type LoadPluginsOptions, loadPlugins } from './load-plugins.ts';
export { placeLayers } from './place-layers.ts';
export {
  combineParts,
  definePlugin,
  describeOutcome,
  type LoadedParts,
  type Plugin,
  type PluginChoice,
  PluginError,
  type PluginErrorCode,
  type PluginHost,
  type PluginLayer,
  type PluginOutcome,
  type PluginParts,
} from './plugin.ts';
