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
export { guardLayer as guardedLayer } from './guard-parts.ts';
export { type LoadPluginsOptions, loadPlugins } from './load-plugins.ts';
export { placeLayers } from './place-layers.ts';
export {
  combineParts as allParts,
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
