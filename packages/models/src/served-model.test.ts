import { describe, expect, it } from 'vitest';
import { isOtherModel } from './served-model.ts';

describe('the model that answered a request', () => {
  it.each([
    ['gpt-4o', 'gpt-4o-2024-08-06'],
    ['gpt-4o-mini', 'gpt-4o-mini-2024-07-18'],
    ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'],
    ['claude-3-5-haiku-latest', 'claude-3-5-haiku-20241022'],
    ['openai/gpt-4o', 'gpt-4o'],
    ['meta-llama/llama-3.3-70b-instruct:free', 'meta-llama/llama-3.3-70b-instruct'],
    ['openrouter/auto', 'anthropic/claude-sonnet-4.5'],
    ['auto', 'mistral-large'],
    ['qwen2.5:7b', 'qwen2.5:7b-instruct-q4_K_M'],
    ['llama3.2', 'llama3.2:latest'],
    ['/models/qwen2.5-7b-instruct-q4_k_m.gguf', 'qwen2.5-7b-instruct-q4_k_m'],
    ['accounts/fireworks/models/llama-v3p1-8b-instruct', 'llama-v3p1-8b-instruct'],
    ['gemini-2.5-pro', 'models/gemini-2.5-pro'],
    ['gemini-2.5-pro', 'gemini-2.5-pro-preview-05-06'],
    ['gemini-flash-latest', 'gemini-3.1-flash'],
    ['deepseek-chat', 'DeepSeek-chat'],
    ['local-model', 'mistral-7b'],
    ['my-model', ''],
    ['my-model', 'none'],
    ['my-model', null],
    ['kimi-k2', 'moonshotai/Kimi-K2-Instruct-0905'],
    ['us.anthropic.claude-sonnet-4-20250514-v1:0', 'claude-sonnet-4-20250514'],
  ])('[G21] counts as the requested model: %s, named %s', (asked, served) => {
    expect(isOtherModel(asked, served)).toBe(false);
  });

  it.each([
    ['gpt-4o', 'gpt-4o-mini'],
    ['gpt-4o', 'gpt-3.5-turbo'],
    ['gpt-5', 'gpt-5-nano'],
    ['claude-opus-4-1', 'claude-sonnet-4-5-20250929'],
    ['llama-3.3-70b-instruct', 'llama-3.1-8b-instruct'],
    ['qwen2.5:7b', 'qwen2.5:14b'],
    ['deepseek-chat', 'deepseek-reasoner'],
    ['mistral-large', 'mistral-small'],
    ['anthropic/claude-sonnet-4.5', 'openai/gpt-5'],
  ])('[G21] counts as another model: %s was requested, %s answered', (asked, served) => {
    expect(isOtherModel(asked, served)).toBe(true);
  });
});
