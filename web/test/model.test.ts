import { expect, test } from "vitest";
import { ResumableHttpAgent } from "@agentstream/client";

test("the client of this repository is the one that the page uses", () => {
  expect(new ResumableHttpAgent({ url: "http://127.0.0.1/agui/demo" }).base).toBe("http://127.0.0.1");
});
