export type { RenderTarget } from '@parley/contracts';
export { MarkupError } from './markup-error.ts';
export { type RenderedPart, render, renderInSteps } from './render.ts';
export { renderPrefix } from './render-prefix.ts';
