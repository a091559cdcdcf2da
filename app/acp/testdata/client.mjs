// Drives `buddy acp` with the client of the protocol's own SDK, as an editor would: a question, a plan, an edit, a
// denied command with a reason, a picture and a cancelled command. Every line of the agent goes to a file as well.
// Usage: node client.mjs BUDDY FOLDER LINES
import { spawn } from "node:child_process";
import { createWriteStream, readFileSync } from "node:fs";
import { PassThrough, Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const [buddy, cwd, lines] = process.argv.slice(2);
const agent = spawn(buddy, ["acp", "--model", "scripted"], { stdio: ["pipe", "pipe", "inherit"] });
const copy = createWriteStream(lines);
const out = new PassThrough();
agent.stdout.on("data", (data) => { copy.write(data); out.write(data); });
agent.stdout.on("end", () => { copy.end(); out.end(); });

const updates = [];
let stop = () => {};
const check = (ok, what) => { if (!ok) { console.error("failed: " + what); console.error(JSON.stringify(updates.slice(-30))); agent.kill(); process.exit(1); } };
const kinds = () => updates.map((u) => u.sessionUpdate);
const text = () => updates.filter((u) => u.sessionUpdate === "agent_message_chunk").map((u) => u.content.text).join("");

const client = acp.client({ name: "test" })
  .onNotification("session/update", ({ params }) => { updates.push(params.update); })
  .onRequest("session/request_permission", ({ params }) => {
    const command = JSON.stringify(params.toolCall);
    if (command.includes("sleep")) { stop(); return { outcome: { outcome: "cancelled" } }; }
    const denied = command.includes("touch denied");
    const option = params.options.find((o) => denied ? o.optionId === "deny_why" : o.kind === "allow_once");
    check(option, "an option to choose: " + command);
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  })
  .onRequest("elicitation/create", ({ params }) => {
    const answer = params.requestedSchema.properties.answer;
    return { action: "accept", content: { answer: answer.enum ? answer.enum[1] : "this folder is read-only" } };
  });

await client.connectWith(acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(out)), async (ctx) => {
  let began = performance.now();
  const hello = await ctx.request("initialize", { protocolVersion: 1, clientCapabilities: { auth: { terminal: true }, elicitation: { form: {} } } });
  check(hello.protocolVersion === 1 && hello.agentCapabilities.loadSession && hello.authMethods.length === 1, "initialize");
  console.log("initialize", Math.round(performance.now() - began), "ms");
  began = performance.now();
  const { sessionId } = await ctx.request("session/new", { cwd, mcpServers: [] });
  console.log("session/new", Math.round(performance.now() - began), "ms");
  const prompt = (...blocks) => ctx.request("session/prompt", { sessionId, prompt: blocks });

  let end = await prompt({ type: "text", text: "do it" }, { type: "image", mimeType: "image/png", data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAACklEQVR4nGMAAQAABQABDQottAAAAABJRU5ErkJggg==" });
  check(end.stopReason === "end_turn", "the end of the task: " + JSON.stringify(end));
  for (const kind of ["agent_thought_chunk", "agent_message_chunk", "tool_call", "tool_call_update", "plan", "usage_update", "available_commands_update"]) {
    check(kinds().includes(kind), "an update " + kind);
  }
  check(JSON.stringify(updates).includes("this folder is read-only"), "the reason of the denial");
  check(readFileSync(cwd + "/a.txt", "utf8") === "hi\n", "the edited file");
  check(text().includes("All done."), "the answer");
  stop = () => ctx.notify("session/cancel", { sessionId });
  end = await prompt({ type: "text", text: "wait" });
  check(end.stopReason === "cancelled", "the end of the cancelled prompt: " + JSON.stringify(end));
  end = await prompt({ type: "text", text: "/status" });
  check(end.stopReason === "end_turn" && text().includes("Folder"), "/status");
  await ctx.request("session/set_mode", { sessionId, modeId: "edits" });
  const options = await ctx.request("session/set_config_option", { sessionId, configId: "effort", value: "low" });
  check(options.configOptions.some((o) => o.id === "mode" && o.currentValue === "edits"), "the mode in the options");
  check((await ctx.request("session/list", { cwd })).sessions.length === 1, "the list");
  await ctx.request("session/close", { sessionId });
  updates.length = 0;
  await ctx.request("session/load", { sessionId, cwd, mcpServers: [] });
  check(text().includes("All done.") && kinds().includes("user_message_chunk"), "the repeated conversation");
  await ctx.request("session/close", { sessionId });
  console.log("session", sessionId);
});
agent.stdin.end();
agent.on("exit", (code) => { check(code === 0, "exit code " + code); process.exit(0); });
